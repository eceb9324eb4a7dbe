/// A thread that owns a context (an object of the caller) and performs jobs on the context, in the order in which the
/// jobs were posted. The thread takes all waiting jobs together, so that `perform` can commit them together.
///
/// A *delayed job* may wait for other jobs until its deadline. If all waiting jobs are delayed jobs, the thread waits
/// until the earliest of their deadlines, or until a job without delay is posted. Then it takes all waiting jobs.
public final class Worker<Context>: Sendable {
    public typealias Job = @Sendable (Context) -> Void

    /// What the thread does next.
    private enum Step {
        case perform([Job])
        case wait(until: Deadline)
        case end
    }

    private struct Mailbox {
        /// The waiting jobs, in the order in which they were posted.
        var jobs: [Job] = []
        /// The earliest deadline of the waiting jobs; nil if no job waits. The deadline of a job without delay has
        /// always passed.
        var due: Deadline?
        var isClosed = false
        var hasEnded = false

        /// Adds a job. Returns whether the thread must be woken, because the jobs are due earlier than before.
        mutating func add(_ job: @escaping Job, delayedUpTo deadline: Deadline?) -> Bool {
            jobs.append(job)
            // When `maximumWaiting` jobs wait, they are due immediately.
            let newDue = jobs.count < Worker.maximumWaiting ? (deadline ?? .passed) : .passed
            if let due, due <= newDue { return false }
            due = newDue
            return true
        }

        /// Takes all waiting jobs if they are due or the worker is closed. The thread already waits until `deadline`.
        /// Returns nil if the thread continues to wait.
        mutating func takeStep(waitingUntil deadline: Deadline?) -> Step? {
            guard let due else { return isClosed ? .end : nil }
            if !isClosed, !due.hasPassed { return due == deadline ? nil : .wait(until: due) }
            defer { (jobs, self.due) = ([], nil) }
            return .perform(jobs)
        }
    }

    /// Work that is done when no job has come for some time.
    public struct IdleWork: Sendable {
        let milliseconds: Int64
        let isNeeded: @Sendable (Context) -> Bool
        let perform: @Sendable (Context) -> Void

        /// After each batch for which `isNeeded` returns true, `perform` runs one time if no job comes within
        /// `milliseconds`.
        public init(
            after milliseconds: Int64, if isNeeded: @escaping @Sendable (Context) -> Bool,
            perform: @escaping @Sendable (Context) -> Void
        ) {
            (self.milliseconds, self.isNeeded, self.perform) = (milliseconds, isNeeded, perform)
        }
    }

    /// When this number of jobs wait, the thread takes them, even if all of them are delayed jobs.
    static var maximumWaiting: Int { 64 }

    private let mailbox = Lock(Mailbox())
    private let thread: Lock<Thread?> = Lock(nil)

    /// Starts the thread. `make` runs on the thread and makes the context, which only this thread uses. If `make`
    /// throws, `init` throws the same error. `perform` gets the waiting jobs.
    public init(
        name: String,
        make: @escaping @Sendable () throws -> Context,
        perform: @escaping @Sendable (Context, [Job]) -> Void = { context, jobs in for job in jobs { job(context) } },
        idle: IdleWork? = nil
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
            var idleWork: IdleWork?
            while let jobs = Self.takeJobs(mailbox, orElse: idleWork, context) {
                perform(context, jobs)
                idleWork = idle.flatMap { $0.isNeeded(context) ? $0 : nil }
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

    /// Waits until jobs are due, and takes all waiting jobs. Returns nil if the worker is closed and no job waits.
    /// Performs the idle work if no job comes before its time.
    private static func takeJobs(_ mailbox: Lock<Mailbox>, orElse idle: IdleWork?, _ context: Context) -> [Job]? {
        var idle = idle
        var deadline = idle.map { Deadline.after(milliseconds: $0.milliseconds) }
        while true {
            switch mailbox.wait(until: deadline, { $0.takeStep(waitingUntil: deadline) }) {
            case .perform(let jobs): return jobs
            case .wait(let due): (deadline, idle) = (due, nil)
            case .end: return nil
            case nil:
                idle?.perform(context)
                (deadline, idle) = (nil, nil)
            }
        }
    }

    /// Adds a job. If the worker is closed, drops the job and returns false. If `deadline` is not nil, the job is a
    /// delayed job: it may wait for other jobs until the deadline.
    @discardableResult
    public func post(_ job: @escaping Job, delayedUpTo deadline: Deadline? = nil) -> Bool {
        let (isPosted, mustWake) = mailbox.withLock { state in
            state.isClosed ? (false, false) : (true, state.add(job, delayedUpTo: deadline))
        }
        if mustWake { mailbox.notify() }
        return isPosted
    }

    /// Performs the posted jobs, without a wait for the deadlines of delayed jobs. Then ends the thread and waits for
    /// its end. If a job calls this function, the function does not wait. Further calls have no effect.
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
