internal import Glibc
internal import Synchronization

/// Distinguishes a process from its forked children, with one system call.
public struct ProcessStamp: Equatable, Sendable {
    private let processID: Int32
    // A child in a new pid namespace can have its parent's process id: both may be 1. And only the id reveals a child
    // that was made without running fork's handlers.
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
