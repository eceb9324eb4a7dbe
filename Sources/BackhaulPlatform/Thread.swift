internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread of the library. It blocks all signals: the host's handlers never run on it and no SIGPIPE reaches it.
public final class Thread: @unchecked Sendable {
    // Unchecked: `handle` is written once, before the object is shared.
    private var handle = pthread_t()
    private let isJoined = Atomic(false)
    private let process = ProcessStamp.current

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// `name` shows in ps and debuggers; at most 15 bytes.
    public init(name: String, body: @escaping @Sendable () -> Void) throws(SystemError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // Blocked before the thread exists: it inherits the mask and has no moment without it.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let result = pthread_create(&handle, nil, { argument in
            let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
            pthread_setname_np(pthread_self(), start.name)
            start.body()
            return nil
        }, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw SystemError(code: result, attempt: "cannot start a thread")
        }
    }

    /// Waits for the thread's end. Not from the thread itself. A second call, and one in a forked child, where there is
    /// no such thread, return at once.
    public func join() {
        if isJoined.exchange(true, ordering: .relaxed) || process != .current { return }
        pthread_join(handle, nil)
    }

    public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Without a join the thread goes on, and leaves nothing behind at its end.
    deinit {
        if !isJoined.load(ordering: .relaxed), process == .current { pthread_detach(handle) }
    }
}
