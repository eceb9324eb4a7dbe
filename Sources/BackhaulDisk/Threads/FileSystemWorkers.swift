internal import BackhaulPlatform
internal import Synchronization

/// The threads of one file system. The initializer starts the first thread. Every other thread starts when it is needed
/// for the first time.
final class FileSystemWorkers: Sendable {
    private struct Threads {
        var workers: [Worker<DiskContext>?]
        var activities: [DiskActivity]
        var metadataWorker: Worker<DiskContext>?
        var isClosed = false
    }

    private let files: FileSystem
    private let journal: PartJournal?
    private let threads: Lock<Threads>
    private let first: Worker<DiskContext>

    /// Throws a `SystemError` when no thread can be started.
    init(count: Int, files: FileSystem, journal: PartJournal?) throws {
        self.files = files
        self.journal = journal
        let activities = (0...max(1, count)).map { _ in DiskActivity() }
        first = try Self.worker("backhaul-disk0", files, journal, activities[0])
        threads = Lock(
            Threads(
                workers: [first] + Array(repeating: nil, count: max(1, count) - 1), activities: activities))
    }

    func worker(for name: String) -> Worker<DiskContext> {
        threads.withLock { threads in
            let index = Int(UInt(bitPattern: name.hashValue) % UInt(threads.workers.count))
            if let worker = threads.workers[index] { return worker }
            guard !threads.isClosed else { return first }
            let worker = try? Self.worker("backhaul-disk\(index)", files, journal, threads.activities[index])
            threads.workers[index] = worker
            return worker ?? first
        }
    }

    var metadataWorker: Worker<DiskContext> {
        threads.withLock { threads in
            if let metadataWorker = threads.metadataWorker { return metadataWorker }
            guard !threads.isClosed, let activity = threads.activities.last else { return first }
            threads.metadataWorker = try? Self.worker("backhaul-stat", files, journal, activity)
            return threads.metadataWorker ?? first
        }
    }

    /// Ends the threads, and waits for them until the deadline. Returns the names of the part files (files of
    /// unfinished downloads) that threads are still changing at the deadline. Without a deadline, waits for all
    /// threads.
    func close(until deadline: Deadline?) -> Set<String> {
        let (workers, activities) = threads.withLock { threads in
            threads.isClosed = true
            return (threads.workers + [threads.metadataWorker], threads.activities)
        }
        var changing: Set<String> = []
        for (worker, activity) in zip(workers, activities) {
            guard let worker else { continue }
            guard let deadline else {
                worker.close()
                continue
            }
            if worker.close(until: deadline) { continue }
            if let part = activity.revoke() { changing.insert(part) }
        }
        return changing
    }

    private static func worker(
        _ name: String, _ files: FileSystem, _ journal: PartJournal?, _ activity: DiskActivity
    ) throws -> Worker<DiskContext> {
        var files = files
        files.activity = activity
        return try Worker(
            name: name, make: { [files] in DiskContext(files: files, journal: journal) },
            perform: { context, jobs in context.perform(jobs) })
    }
}

/// Which part file a disk thread is changing, and whether the thread may make further system calls.
final class DiskActivity: Sendable {
    private let part = Lock<String?>(nil)
    /// Each system call reads this flag, so the flag needs no lock.
    private let revoked = Atomic(false)

    /// Makes the thread's later system calls fail. Returns the name of the part file that the thread is changing, if
    /// any.
    func revoke() -> String? {
        revoked.store(true, ordering: .releasing)
        return part.withLock { $0 }
    }

    var isRevoked: Bool { revoked.load(ordering: .acquiring) }

    func change(_ part: String?) { self.part.withLock { $0 = part } }
}
