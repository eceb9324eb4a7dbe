/// A thread that owns a context and performs jobs on it, in the order in which they were posted. It takes all waiting
/// jobs at once, so that `perform` can commit them together.
public final class Worker<Context>: Sendable {
    public typealias Job = @Sendable (Context) -> Void

    private struct Mailbox {
        var jobs: [Job] = []
        var isClosed = false
        var hasEnded = false
    }

    private let mailbox = Lock(Mailbox())
    private let thread: Lock<Thread?> = Lock(nil)

    /// Starts the thread. `make` runs on it and makes the context, which never leaves it. If `make` throws, so does
    /// this. `perform` gets the waiting jobs.
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

    /// Returns false when the worker is closed. Then the job is dropped.
    @discardableResult
    public func post(_ job: @escaping Job) -> Bool {
        mailbox.change { state in
            if state.isClosed { return false }
            state.jobs.append(job)
            return true
        }
    }

    /// Performs the posted jobs, ends the thread and waits for it, unless one of the jobs calls this. It may be called
    /// repeatedly.
    public func close() {
        mailbox.change { $0.isClosed = true }
        thread.withLock { thread in
            if let thread, !thread.isCurrent { thread.join() }
            thread = nil
        }
    }

    /// Like `close`, but waits only until the deadline. Returns false when the thread is still busy. Then it continues,
    /// and ends when it has performed the posted jobs.
    public func close(until deadline: Deadline) -> Bool {
        mailbox.change { $0.isClosed = true }
        guard mailbox.wait(until: deadline, { $0.hasEnded ? () : nil }) != nil else {
            thread.withLock { $0 = nil }
            return false
        }
        close()
        return true
    }

    /// A worker that was not closed ends its thread with its last reference.
    deinit { mailbox.change { $0.isClosed = true } }
}
