import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import BackhaulUserManager
import CLinux
import Glibc

/// The daemon's log: the journal where there is one. Elsewhere, and for errors in any case, because that is where a
/// host looks for them, `daemon.log` in the store, for the user alone, with one predecessor.
final class DaemonLog: Sendable {
    static let name = "daemon.log"
    static let predecessor = "daemon.log.1"
    static let longest = 1 << 20

    private let directory: StoreDirectory
    private let journal = Journal()
    private let file: Lock<Descriptor?> = Lock(nil)
    /// Given up for the file when the process has no other descriptor left, and that is what is to be told.
    private let reserve: Lock<Descriptor?>

    init(_ directory: StoreDirectory) {
        self.directory = directory
        let number = bhl_openat(directory.descriptor.number, ".", O_RDONLY | O_DIRECTORY, 0)
        reserve = Lock(number < 0 ? nil : Descriptor(owning: number))
    }

    /// A log that cannot be written is nobody's concern.
    /// - isMaking: makes the file where it is missing; not in a store that is being deleted.
    func write(_ entry: LogEntry, isMaking: Bool = true) {
        let priority = Journal.Priority(rawValue: entry.level.rawValue) ?? .notice
        let isInJournal = journal.send(entry.message, priority: priority, fields: ["BACKHAUL_STORE": directory.path])
        if !isInJournal || entry.level == .error { writeLine(entry, isMaking) }
    }

    private func writeLine(_ entry: LogEntry, _ isMaking: Bool) {
        var line = Array("\(time) \(getpid()) \(entry.label): \(entry.message)\n".utf8)
        file.withLock { file in
            if file == nil { file = open(isMaking) }
            guard let number = file?.number else { return }
            // In one piece, so that a daemon that finds itself superfluous does not write into another's line.
            _ = Glibc.write(number, &line, line.count)
            var status = stat()
            guard fstat(number, &status) == 0, status.st_size >= Self.longest else { return }
            renameat(directory.descriptor.number, Self.name, directory.descriptor.number, Self.predecessor)
            file = nil
        }
    }

    private func open(_ isMaking: Bool) -> Descriptor? {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | (isMaking ? O_CREAT : 0)
        var number = bhl_openat(directory.descriptor.number, Self.name, flags, 0o600)
        if number < 0, bhl_errno() == EMFILE {
            reserve.withLock { $0 = nil }
            number = bhl_openat(directory.descriptor.number, Self.name, flags, 0o600)
        }
        return number < 0 ? nil : Descriptor(owning: number)
    }

    /// 2026-01-31T12:00:00Z
    private var time: String {
        var seconds = time_t(Clock.wallMilliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
