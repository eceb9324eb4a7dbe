/// A thread that owns a context (an object of the caller) and performs jobs on the context, in the order in which the
/// jobs were posted. The thread takes all waiting jobs together, so that `perform` can commit them together.
public final class Worker<Context>: Sendable {
    public typealias Job = @Sendable (Context) -> Void

    private struct Mailbox {
        var jobs: [Job] = []
        var isClosed = false
        var hasEnded = false
    }

    private let mailbox = Lock(Mailbox())
    private let thread: Lock<Thread?> = Lock(nil)

    /// Starts the thread. `make` runs on the thread and makes the context, which only this thread uses. If `make`
    /// throws, `init` throws the same error. `perform` gets the waiting jobs.
    public init(
        name: String,
        make: @escaping @Sendable () throws -> Context,
        perform: @escaping @Sendable (Context, [Job]) -> Void = { context, jobs in for job in jobs { job(context) } }
    ) throws {
        let started = Lock<Result<Void, any Error>?>(nil)
        let mailbox = mailbox
        let thread = try Thread(name: name) {
            let context: Context
            do {
                context = try make()
            } catch {
                started.change { $0 = .failure(error) }
                return
            }
            started.change { $0 = .success(()) }
            defer { mailbox.change { $0.hasEnded = true } }
            while true {
                let jobs: [Job]? = mailbox.wait(until: nil) { state in
                    if state.jobs.isEmpty { return state.isClosed ? .some(nil) : nil }
                    let jobs = state.jobs
                    state.jobs = []
                    return .some(jobs)
                } ?? nil
                guard let jobs else { return }
                perform(context, jobs)
            }
        }
        do {
            try started.wait(until: nil) { $0 }!.get()
        } catch {
            thread.join()
            throw error
        }
        self.thread.withLock { $0 = thread }
    }

    /// Adds a job. If the worker is closed, drops the job and returns false.
    @discardableResult
    public func post(_ job: @escaping Job) -> Bool {
        mailbox.change { state in
            if state.isClosed { return false }
            state.jobs.append(job)
            return true
        }
    }

    /// Performs the posted jobs, ends the thread and waits for its end. If a job calls this function, the function does
    /// not wait. Further calls have no effect.
    public func close() {
        mailbox.change { $0.isClosed = true }
        thread.withLock { thread in
            if let thread, !thread.isCurrent { thread.join() }
            thread = nil
        }
    }

    /// Closes the worker, but waits only until the deadline. Returns false if the thread is still busy at the deadline.
    /// In that case, the thread ends when it has performed the posted jobs.
    public func close(until deadline: Deadline) -> Bool {
        mailbox.change { $0.isClosed = true }
        guard mailbox.wait(until: deadline, { $0.hasEnded ? () : nil }) != nil else {
            thread.withLock { $0 = nil }
            return false
        }
        close()
        return true
    }

    /// Closes a worker that is still open. Its thread performs the posted jobs, and then ends.
    deinit { mailbox.change { $0.isClosed = true } }
}
