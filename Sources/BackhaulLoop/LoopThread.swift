internal import BackhaulPlatform

/// A thread that runs an event loop and owns a context, which is an object of the caller. The context never leaves the
/// thread.
public final class LoopThread<Context: AnyObject>: Sendable {
    public typealias Job = @Sendable (Context) -> Void

    private struct Mailbox {
        var jobs: [Job] = []
        var isClosed = false
        var thread: Thread?
    }

    private let mailbox = Lock(Mailbox())
    private let uv: LibuvLoop

    /// Starts the thread, and runs `make` on this thread. If `make` throws an error, this initializer throws the same
    /// error. `name` appears in ps and has at most 15 bytes.
    public init(name: String, make: @escaping @Sendable (Loop) throws -> Context) throws {
        uv = try LibuvLoop()
        let started = Lock<Result<Void, any Error>?>(nil)
        let thread = try Thread(name: name) { [self] in
            do {
                let loop = try Loop(uv)
                defer { loop.close() }
                let context = try make(loop)
                started.change { $0 = .success(()) }
                loop.run { self.performJobs(context) }
            } catch {
                started.change { $0 = .failure(error) }
            }
        }
        let outcome: Result<Void, any Error>? = started.wait(until: nil) { $0 }
        if case .failure(let error) = outcome {
            thread.join()
            throw error
        }
        mailbox.withLock { $0.thread = thread }
    }

    /// Performs the job on the thread, in the order of the calls. Any thread may call this function. All jobs that are
    /// posted before the thread is awake wake it only one time. Returns false after `stop`; the job is then dropped.
    @discardableResult
    public func post(_ job: @escaping Job) -> Bool {
        let isPosted: Bool = mailbox.withLock { box in
            if !box.isClosed { box.jobs.append(job) }
            return !box.isClosed
        }
        if isPosted { uv.wake() }
        return isPosted
    }

    /// Performs all posted jobs, and waits until the thread has ended. A second call has no effect. This function must
    /// not be called on the thread itself.
    public func stop() {
        let thread: Thread? = mailbox.withLock { box in
            box.isClosed = true
            // The thread refers to this object.
            defer { box.thread = nil }
            return box.thread
        }
        uv.wake()
        thread?.join()
    }

    /// Returns false if the thread must end.
    private func performJobs(_ context: Context) -> Bool {
        let (jobs, isClosed): ([Job], Bool) = mailbox.withLock { box in
            defer { box.jobs = [] }
            return (box.jobs, box.isClosed)
        }
        for job in jobs { job(context) }
        return !isClosed
    }
}
