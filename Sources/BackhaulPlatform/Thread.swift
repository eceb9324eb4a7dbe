internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread of the library. The thread blocks all signals. So the signal handlers of the host never
/// run on this thread, and the thread gets no SIGPIPE.
public final class Thread: @unchecked Sendable {
    // Unchecked: `handle` is written once, before the object is shared.
    private var handle = pthread_t()
    private let isJoined = Atomic(false)
    private let hasEnded = Lock(false)

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        let hasEnded: Lock<Bool>
        init(name: String, body: @escaping @Sendable () -> Void, hasEnded: Lock<Bool>) {
            self.name = name
            self.body = body
            self.hasEnded = hasEnded
        }
    }

    /// `name` appears in ps and debuggers; it has at most 15 bytes.
    public init(name: String, body: @escaping @Sendable () -> Void) throws(SystemError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // The calling thread blocks its signals before it makes the new thread, because the new thread inherits this
        // mask.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = Unmanaged.passRetained(Start(name: name, body: body, hasEnded: hasEnded))
        let result = pthread_create(
            &handle, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                pthread_setname_np(pthread_self(), start.name)
                start.body()
                start.hasEnded.change { $0 = true }
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw SystemError(code: result, messageStart: "cannot start a thread")
        }
    }

    /// Waits until the thread has ended. The thread itself must not call this function. A second call returns at once.
    public func join() {
        if isJoined.exchange(true, ordering: .relaxed) { return }
        pthread_join(handle, nil)
    }

    /// Waits like `join`, but only until the deadline.
    public func join(until deadline: Deadline) {
        if hasEnded.wait(until: deadline, { $0 ? () : nil }) != nil { join() }
    }

    public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// If the thread was not joined, it continues, and its resources are released when it ends.
    deinit {
        if !isJoined.load(ordering: .relaxed) { pthread_detach(handle) }
    }
}
