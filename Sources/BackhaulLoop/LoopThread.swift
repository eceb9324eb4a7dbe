internal import BackhaulPlatform
internal import CLinux

/// A thread that runs an event loop and owns a context, which is an object of the caller. The context never leaves the
/// thread.
///
/// A host (a program that embeds the library) may close descriptors that are not its own. The loop detects this in its
/// next iteration. From then on, the thread performs only posted jobs, without the loop. But if the host closes the
/// descriptors while the thread waits without a time limit, only a signal could end this wait. So this thread stays in
/// its system call, and has no next iteration. The thread that posts the next job starts another loop thread, which
/// takes over.
public final class LoopThread<Context: AnyObject>: Sendable {
    public typealias Job = @Sendable (Context) -> Void

    private struct Mailbox {
        var jobs: [Job] = []
        var isClosed = false
        /// Whether the thread waits in its event set, or is about to wait.
        var isWaiting = false
        /// When the waker (a descriptor that ends the wait) was used for the current wait; nil if it was not used.
        var wokenAt: Int64?
        /// The number of times that another thread has taken over. A thread of an earlier generation must end.
        var generation = 0
        var hasEnded = false
        var thread: Thread?
    }

    private let name: String
    private let events: EpollSet
    private let mailbox = Lock(Mailbox())
    private let confined: Confined

    // Unchecked: only the thread of the current generation uses `loop` and `context`. The generation changes under the
    // mailbox's mutex, while the earlier thread waits in a system call.
    private final class Confined: @unchecked Sendable {
        var loop: Loop?
        var context: Context?
        let broken: @Sendable (Context) -> Void
        init(broken: @escaping @Sendable (Context) -> Void) { self.broken = broken }
    }

    /// Starts the thread, and runs `make` on this thread. If `make` throws an error, this initializer throws the same
    /// error. If the host closes a descriptor that the loop needs, `broken` is called one time on the thread. After
    /// this call, only posted jobs run. `name` appears in ps and has at most 15 bytes.
    public init(
        name: String, make: @escaping @Sendable (Loop) throws -> Context,
        broken: @escaping @Sendable (Context) -> Void
    ) throws {
        self.name = name
        events = try EpollSet()
        confined = Confined(broken: broken)
        let started = Lock<Result<Void, any Error>?>(nil)
        let thread = try Thread(name: name) { [self] in
            do {
                let loop = try Loop(events)
                confined.context = try make(loop)
                confined.loop = loop
            } catch {
                started.change { $0 = .failure(error) }
                return
            }
            started.change { $0 = .success(()) }
            run(generation: 0)
        }
        let outcome: Result<Void, any Error>? = started.wait(until: nil) { $0 }
        if case .failure(let error) = outcome {
            thread.join()
            throw error
        }
        mailbox.withLock { $0.thread = thread }
    }

    /// Performs the job on the thread, in the order of the calls. Any thread may call this function. All jobs that are
    /// posted during one wait of the loop's thread wake the thread only one time. A busy thread performs the job in its
    /// next iteration. Returns false after `stop`; the job is then dropped.
    @discardableResult
    public func post(_ job: @escaping Job) -> Bool {
        let accepted: (posted: Bool, wake: Bool) = mailbox.change { box in
            if box.isClosed { return (false, false) }
            box.jobs.append(job)
            return (true, mustWake(&box))
        }
        if accepted.wake { wake() }
        return accepted.posted
    }

    /// Performs all posted jobs, and waits until the thread has ended. A second call has no effect. This function must
    /// not be called on the thread itself.
    public func stop() {
        mailbox.change { $0.isClosed = true }
        repeat {
            let needed: Bool = mailbox.withLock { mustWake(&$0) }
            if needed { wake() }
            // The host may have closed the waker just after `wake` used it, so the waker is used again after a while.
        } while mailbox.wait(until: .after(milliseconds: 1_100), { $0.hasEnded ? true : nil }) == nil
        let thread: Thread? = mailbox.withLock { box in
            defer { box.thread = nil }
            return box.thread
        }
        thread?.join()
    }

    // MARK: - Waking

    private func mustWake(_ box: inout Mailbox) -> Bool {
        guard box.isWaiting else { return false }
        let now = Clock.bootMilliseconds
        // If the host closed the waker just after `wake` used it, no thread was woken. So the waker is used again after
        // a second.
        if let wokenAt = box.wokenAt, now - wokenAt < 1_000 { return false }
        box.wokenAt = now
        return true
    }

    private func wake() {
        if !events.wake() { takeOver() }
    }

    private func takeOver() {
        mailbox.withLock { box in
            guard box.isWaiting else { return }
            let generation = box.generation + 1
            guard let thread = try? Thread(name: name, body: { [self] in resumeBroken(generation) }) else {
                // The next call of `post` or `stop` tries again to start a thread.
                box.wokenAt = nil
                return
            }
            box.isWaiting = false
            box.generation = generation
            box.thread = thread
        }
    }

    // MARK: - The thread

    private func run(generation: Int) {
        // Unsafe: the memory is used only in this frame and by this thread.
        let buffer = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 128)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: epoll_event())
        while let milliseconds = prepareToWait() {
            let count = events.wait(milliseconds, into: buffer)
            guard mayResume(generation) else { return }
            guard let count, events.isOurs(), runIteration(buffer[..<count]) else { return becomeBroken() }
        }
        end()
    }

    /// Runs one iteration. Returns false when the loop has lost a descriptor.
    private func runIteration(_ arrived: UnsafeMutableBufferPointer<epoll_event>.SubSequence) -> Bool {
        guard let loop = confined.loop else { return false }
        loop.beginIteration()
        performJobs()
        loop.endStep()
        loop.dispatch(arrived)
        guard loop.runTimers() else { return false }
        loop.endIteration()
        return true
    }

    /// Returns the milliseconds to wait; a negative number means no limit. Returns nil if the thread is closed and has
    /// no more jobs.
    private func prepareToWait() -> Int32? {
        guard let loop = confined.loop else { return nil }
        let timeout = loop.timeout
        return mailbox.withLock { box in
            if !box.jobs.isEmpty { return 0 }
            if box.isClosed { return nil }
            if timeout != 0 {
                box.isWaiting = true
                box.wokenAt = nil
            }
            return timeout
        }
    }

    /// Ends the wait. Returns false when another thread has taken over in the meantime.
    private func mayResume(_ generation: Int) -> Bool {
        mailbox.withLock { box in
            guard box.generation == generation else { return false }
            box.isWaiting = false
            return true
        }
    }

    private func performJobs() {
        guard let context = confined.context else { return }
        let jobs: [Job] = mailbox.withLock { box in
            let jobs = box.jobs
            box.jobs = []
            return jobs
        }
        for job in jobs { job(context) }
    }

    private func resumeBroken(_ generation: Int) {
        let isCurrent: Bool = mailbox.withLock { $0.generation == generation }
        if isCurrent { becomeBroken() }
    }

    private func becomeBroken() {
        confined.loop?.becomeBroken()
        if let context = confined.context { confined.broken(context) }
        confined.loop?.endStep()
        while true {
            let continues: Bool = mailbox.wait(until: nil) { box in
                if !box.jobs.isEmpty { return true }
                return box.isClosed ? false : nil
            } ?? false
            guard continues else { return end() }
            performJobs()
            confined.loop?.endStep()
            confined.loop?.endIteration()
        }
    }

    private func end() {
        confined.context = nil
        confined.loop?.close()
        confined.loop = nil
        mailbox.change { $0.hasEnded = true }
    }
}
