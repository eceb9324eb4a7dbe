import BackhaulPlatform
import Glibc

/// The changes of a store, which the kernel reports (inotify(7)). An engine writes to the log of the database whenever
/// a transfer begins, waits or ends, so no engine has to be asked while nothing changes.
final class StoreChanges {
    private static let files: Set<String> = ["backhaul.sqlite3-wal", "engine.socket"]

    private let store: String
    private let watch: Inotify
    private let directory: FileIdentity

    init(of store: String) throws(CommandError) {
        self.store = store
        do throws(SystemError) {
            watch = try Inotify("the store cannot be watched")
        } catch {
            throw .stopped(.tryAgainLater, "\(error); raise the limit fs.inotify.max_user_instances")
        }
        let events = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
        guard watch.watch(store, for: Int32(events)), let directory = FileIdentity(at: store) else {
            throw .stopped(.storeUnusable, "the store \(store) cannot be watched: \(reasonOfLastError())")
        }
        self.directory = directory
    }

    var awaited: pollfd { pollfd(fd: watch.number, events: Int16(POLLIN), revents: 0) }

    /// Whether the store has changed since the last call.
    func take() throws(CommandError) -> Bool {
        let names = watch.takeNames()
        // A report without a name is about the directory, or says that reports are missing.
        if names.contains("") { try checkDirectory() }
        return names.contains { $0.isEmpty || StoreChanges.files.contains($0) }
    }

    private func checkDirectory() throws(CommandError) {
        guard FileIdentity(at: store) == directory else {
            throw .stopped(.storeUnusable, "the store \(store) was moved or removed")
        }
    }
}
