internal import Glibc
internal import Synchronization

/// A value that differs between a process and its forked children. Reading it takes one system call.
public struct ProcessStamp: Equatable, Sendable {
    private let processID: Int32
    // Both fields are needed. A child in a new pid namespace can have the process id of its parent: both ids may be 1.
    // And if a child was made without the handlers of pthread_atfork(3), only its process id differs.
    private let forks: Int

    private static let forks: Forks = {
        pthread_atfork(nil, nil) { ProcessStamp.forks.count.add(1, ordering: .relaxed) }
        return Forks()
    }()

    private final class Forks: Sendable {
        let count = Atomic(0)
    }

    public static var current: ProcessStamp {
        ProcessStamp(processID: getpid(), forks: forks.count.load(ordering: .relaxed))
    }
}
