import BackhaulModel
import BackhaulPlatform
import BackhaulStore
import BackhaulUserManager
import CLinux
import Glibc

/// The log of the daemon, which is a process that runs transfers. If there is a journal, entries go to the journal.
/// Without a journal, they go to `daemon.log` in the store, the directory with the daemon's data. Errors always go to
/// this file, because programs that start the daemon read them there. Only the user can read the file. When the file
/// reaches its size limit, it is renamed to `daemon.log.1`, and replaces the earlier file with that name.
final class DaemonLog: Sendable {
    static let name = StoreDirectory.daemonLogNames[0]
    static let rotatedName = StoreDirectory.daemonLogNames[1]
    static let sizeLimit = 1 << 20

    private let directory: StoreDirectory
    private let journal = Journal()
    private let file: Lock<Descriptor?> = Lock(nil)
    /// A descriptor in reserve. If the process has too many descriptors to open the file, this descriptor is closed.
    /// Then the file can be opened, and the error can be logged.
    private let reserve: Lock<Descriptor?>

    init(_ directory: StoreDirectory) {
        self.directory = directory
        let number = bhl_openat(directory.descriptor.number, ".", O_RDONLY | O_DIRECTORY, 0)
        reserve = Lock(number < 0 ? nil : Descriptor(owning: number))
    }

    /// Writes an entry. Errors of the write are ignored.
    /// - createIfMissing: whether to create the file if it is missing. False if the store was deleted or replaced.
    func write(_ entry: LogEntry, createIfMissing: Bool = true) {
        let priority = Journal.Priority(rawValue: entry.level.rawValue) ?? .notice
        let isInJournal = journal.send(entry.message, priority: priority, fields: ["BACKHAUL_STORE": directory.path])
        if !isInJournal || entry.level == .error { writeLine(entry, createIfMissing) }
    }

    private func writeLine(_ entry: LogEntry, _ createIfMissing: Bool) {
        var line = Array("\(time) \(getpid()) \(entry.label): \(entry.message)\n".utf8)
        file.withLock { file in
            if file == nil { file = open(createIfMissing) }
            guard let number = file?.number else { return }
            // Each line is one write, so that two daemons do not mix their lines.
            _ = Glibc.write(number, &line, line.count)
            var status = stat()
            guard fstat(number, &status) == 0, status.st_size >= Self.sizeLimit else { return }
            renameat(directory.descriptor.number, Self.name, directory.descriptor.number, Self.rotatedName)
            file = nil
        }
    }

    private func open(_ createIfMissing: Bool) -> Descriptor? {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | (createIfMissing ? O_CREAT : 0)
        var number = bhl_openat(directory.descriptor.number, Self.name, flags, 0o600)
        if number < 0, bhl_errno() == EMFILE {
            reserve.withLock { $0 = nil }
            number = bhl_openat(directory.descriptor.number, Self.name, flags, 0o600)
        }
        return number < 0 ? nil : Descriptor(owning: number)
    }

    /// The present time in UTC, such as 2026-01-31T12:00:00Z.
    private var time: String {
        var seconds = time_t(Clock.wallMilliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
