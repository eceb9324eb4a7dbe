internal import BackhaulModel
internal import BackhaulPlatform

/// A process of a launched host. A launched host is a program that the engine has started because a session needs the
/// program.
protocol HostProcess: Sendable {
    /// A descriptor that is readable when the process has ended; nil if the system has no such descriptors.
    var endDescriptor: Int32? { get }
    var hasEnded: Bool { get }
    /// Sends SIGTERM.
    func terminate()
    /// Sends SIGKILL.
    func kill()
}

extension WatchedProcess: HostProcess {
    var endDescriptor: Int32? { descriptor?.number }
}

/// The known living processes of one launched host. The program that the engine has started can start further
/// processes.
///
/// Each application with a launch command has one object of this type. It owns the processes, and the watches that
/// notice when a process ends.
final class HostProcesses {
    private struct Watched {
        var process: any HostProcess
        /// The watch that notices the end of the process. Nil if the process cannot be watched and must be polled.
        var watch: (any RuntimeWatch)?
    }

    private let runtime: any Runtime
    private let find: (ProcessIdentity) -> (any HostProcess)?
    private var watched: [ProcessIdentity: Watched] = [:]

    /// - find: returns the process, or nil if it has ended.
    init(_ runtime: any Runtime, find: @escaping (ProcessIdentity) -> (any HostProcess)?) {
        self.runtime = runtime
        self.find = find
    }

    var all: [any HostProcess] { watched.values.map(\.process) }
    func contains(_ identity: ProcessIdentity) -> Bool { watched[identity] != nil }
    var isEmpty: Bool { watched.isEmpty }
    var needPolling: Bool { watched.values.contains { $0.watch == nil } }

    /// Adds the process, and calls `ended` when the process ends. If the process cannot be watched, `ended` is never
    /// called. Does nothing if the process has ended already.
    func watch(_ identity: ProcessIdentity, ended: @escaping () -> Void) {
        guard watched[identity] == nil, let process = find(identity) else { return }
        let watch = process.endDescriptor.flatMap { number in
            try? runtime.watch(number) {
                ended()
                return []
            }
        }
        watched[identity] = Watched(process: process, watch: watch)
    }

    func dropEnded() {
        for (identity, known) in watched where known.process.hasEnded { watched[identity] = nil }
    }

    func removeAll() { watched = [:] }
}
