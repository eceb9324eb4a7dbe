import Backhaul
import BackhaulBus

extension SessionKey {
    /// The session in words, such as "session photos". Empty for the session that the command line uses by default.
    func place(in context: Context) -> String {
        let words = name == Context.defaultSession ? "" : "session " + Text.visible(name)
        if application == context.applicationName { return words }
        return words.isEmpty ? application : words + " of " + application
    }
}

/// What a desktop shows of the transfers of a session while they run.
struct JobProgress: Equatable {
    var title = ""
    /// The file and the server of a transfer that runs.
    var place = ""
    var totalFiles: UInt64 = 0
    var processedFiles: UInt64 = 0
    /// The bytes of all files. Nil if a size is not known.
    var totalBytes: UInt64?
    var processedBytes: UInt64 = 0
    var bytesPerSecond: UInt64 = 0
    var isSuspended = false

    /// The share that is done, from 0 to 1: of the bytes, or of the files if a size is not known.
    var share: Double {
        if let totalBytes, totalBytes > 0 { return Double(min(processedBytes, totalBytes)) / Double(totalBytes) }
        return totalFiles == 0 ? 0 : Double(processedFiles) / Double(totalFiles)
    }

    /// The properties of org.kde.JobViewV3. The file is plain text there. The interface has other texts, such as
    /// infoMessage, in which KDE would follow markup.
    var properties: [(name: String, value: BusValue)] {
        [
            ("title", .string(title)), ("descriptionLabel1", .string("File")), ("descriptionValue1", .string(place)),
            ("totalFiles", .uint64(totalFiles)), ("processedFiles", .uint64(processedFiles)),
            ("totalBytes", .uint64(totalBytes ?? 0)), ("processedBytes", .uint64(processedBytes)),
            ("percent", .uint32(UInt32(share * 100))), ("speed", .uint64(bytesPerSecond)),
            ("suspended", .bool(isSuspended)),
        ]
    }
}

/// The progress of the present round of a session.
struct RoundProgress {
    private struct File {
        var done: UInt64
        var total: UInt64?
        var hasEnded: Bool

        init(_ task: TaskInfo) {
            done = task.done
            total = task.total
            hasEnded = task.hasEnded
            if hasEnded { end(succeeded: task.state == .succeeded) }
        }

        mutating func end(succeeded: Bool = true) {
            hasEnded = true
            if succeeded, let total { done = total }
            total = done
        }
    }

    private var round: UInt64 = 0
    private var files: [TaskID: File] = [:]
    private var job = JobProgress()
    /// The number of transfers that run.
    private(set) var running = 0
    private(set) var hasSuspended = false
    private var willRunSoon = false

    /// The reasons of transfers that a program expects to run soon.
    private static let soonReasons: Set<WaitingReason.Code> = [.slot, .retry, .origin]

    /// Takes over the rows of the session.
    /// - Parameters:
    ///   - isComplete: Whether the rows have all listed transfers.
    ///   - title: Returns the title of the job for a word such as "Downloading".
    mutating func update(
        _ rows: [TransferRow], isComplete: Bool = true, round: UInt64, title: (_ verb: String) -> String
    ) {
        if round != self.round {
            self = RoundProgress()
            self.round = round
        }
        let tasks = rows.lazy.map(\.task).filter { $0.round == round }
        for task in tasks { files[task.id] = File(task) }
        if isComplete {
            // A transfer that is no longer listed has ended, and a program has acknowledged its end.
            let present = Set(tasks.map(\.id))
            for (id, file) in files where !file.hasEnded && !present.contains(id) { files[id]?.end() }
        }
        let live = tasks.filter { !$0.hasEnded }
        let running = live.filter { $0.state == .running }
        self.running = running.count
        willRunSoon = live.contains {
            $0.state == .waiting && $0.waitsFor.map(RoundProgress.soonReasons.contains) == true
        }
        hasSuspended = live.contains { $0.state == .suspended }
        job.title = title(RoundProgress.verb(uploads: live.count { $0.isUpload }, of: live.count))
        job.place = running.first.map { TransferName(task: $0).place } ?? job.place
        job.bytesPerSecond = running.reduce(0) { $0.addingReportingOverflow($1.bytesPerSecond).partialValue }
        count()
    }

    private static func verb(uploads: Int, of count: Int) -> String {
        uploads == 0 ? "Downloading" : uploads == count ? "Uploading" : "Transferring"
    }

    private mutating func count() {
        job.totalFiles = UInt64(files.count)
        job.processedFiles = UInt64(files.values.count { $0.hasEnded })
        job.processedBytes = files.values.reduce(0) { $0.addingReportingOverflow($1.done).partialValue }
        var total: UInt64? = 0
        for file in files.values {
            total = total.flatMap { sum in file.total.map { sum.addingReportingOverflow($0).partialValue } }
        }
        job.totalBytes = total
    }

    /// Whether a transfer moves bytes, or will soon.
    var isActive: Bool { running > 0 || willRunSoon }

    func job(isSuspended: Bool) -> JobProgress {
        var job = job
        job.isSuspended = isSuspended
        if isSuspended { job.bytesPerSecond = 0 }
        return job
    }
}
