internal import BackhaulModel
internal import BackhaulPlatform

/// A process of a launched host.
protocol HostProcess: Sendable {
    /// Readable from the process's end on; nil where the system has no such descriptor.
    var endDescriptor: Int32? { get }
    var hasEnded: Bool { get }
    /// SIGTERM.
    func askToEnd()
    /// SIGKILL.
    func kill()
}

extension WatchedProcess: HostProcess {
    var endDescriptor: Int32? { descriptor?.number }
}

/// The living processes of one launched host, as far as they are known.
///
/// One for each application with a launch command. It owns the processes and the watches of their ends.
final class HostProcesses {
    private struct Watched {
        var process: any HostProcess
        /// Nil without a descriptor: then the process is looked at from time to time.
        var watch: (any RuntimeWatch)?
    }

    private let runtime: any Runtime
    private let find: (ProcessIdentity) -> (any HostProcess)?
    private var watched: [ProcessIdentity: Watched] = [:]

    /// - find: the process while it lives.
    init(_ runtime: any Runtime, find: @escaping (ProcessIdentity) -> (any HostProcess)?) {
        self.runtime = runtime
        self.find = find
    }

    var all: [any HostProcess] { watched.values.map(\.process) }
    func contains(_ identity: ProcessIdentity) -> Bool { watched[identity] != nil }
    var isEmpty: Bool { watched.isEmpty }
    var needPolling: Bool { watched.values.contains { $0.watch == nil } }

    /// Calls `ended` at the end of the process, unless that has come already.
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
