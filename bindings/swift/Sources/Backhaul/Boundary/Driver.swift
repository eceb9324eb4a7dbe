internal import CBackhaul
internal import CBackhaulSystem
internal import Glibc
internal import Synchronization

/// The one thread of an open application.
///
/// The thread waits for the library's event descriptors, and resumes the Swift tasks whose results or events are
/// available. Therefore, Swift's cooperative threads never block. A few functions of the library may block: they open
/// and close the application, and check the files of requests and the paths for downloaded files. These functions also
/// run on this thread.
final class Driver: Sendable {
    typealias Job = @Sendable (_ application: Handle) -> Void

    private struct State {
        /// The application's handle. Nil before the application is open, and after it is closed.
        var application: Handle?
        /// The Swift task that waits until the application is open.
        var opening: CheckedContinuation<Void, any Error>?
        var isStopping = false
        var jobs: [Job] = []
        var stopped: [CheckedContinuation<Void, Never>] = []
    }

    let tickets: TicketTable
    private let readiness: Readiness
    private let state = Mutex(State())
    private let attention: AsyncStream<SessionInfo>.Continuation

    private init(
        _ attention: AsyncStream<SessionInfo>.Continuation, limit: Duration
    ) throws(BackhaulError) {
        let readiness = try Readiness()
        self.readiness = readiness
        tickets = TicketTable(limit: limit) { readiness.wake() }
        self.attention = attention
    }

    /// Starts the thread and opens the application on it. If the Swift task is cancelled, throws immediately, and the
    /// thread closes the application when it is open.
    static func open(
        _ options: ApplicationOptions, timeout: Int32, attention: AsyncStream<SessionInfo>.Continuation
    ) async throws -> Driver {
        try Task.checkCancellation()
        let driver = try Driver(attention, limit: .milliseconds(max(1000, timeout)))
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                driver.state.withLock { $0.opening = continuation }
                let failure = startThread(name: "backhaul-swift") {
                    do throws(BackhaulError) {
                        try driver.open(options, timeout)
                    } catch {
                        return driver.endOpening(.failure(error))
                    }
                    driver.endOpening(.success(()))
                    driver.run()
                }
                if let failure { driver.endOpening(.failure(failure)) }
                // The cancellation may have come before the continuation was stored.
                if Task.isCancelled { driver.endOpening(.failure(CancellationError())) }
            }
        } onCancel: {
            driver.stop()
            driver.endOpening(.failure(CancellationError()))
        }
        // The cancellation may have come after the application was open.
        if Task.isCancelled {
            driver.stop()
            throw CancellationError()
        }
        return driver
    }

    /// Resumes the Swift task that waits in `open`, unless it was resumed before.
    private func endOpening(_ result: Result<Void, any Error>) {
        let continuation = state.withLock { state in
            defer { state.opening = nil }
            return state.opening
        }
        continuation?.resume(with: result)
    }

    /// The application's handle. Verbs (functions that send commands to the engine) are started with this handle.
    var application: Handle {
        get throws(BackhaulError) {
            guard let application = state.withLock({ $0.isStopping ? nil : $0.application }) else {
                throw .closed
            }
            return application
        }
    }

    /// Queues `job` for the driver's thread. If the application is closed, drops the job and returns false.
    @discardableResult
    func post(_ job: @escaping Job) -> Bool {
        let isPosted = state.withLock { state in
            if state.isStopping || state.application == nil { return false }
            state.jobs.append(job)
            return true
        }
        if isPosted { readiness.wake() }
        return isPosted
    }

    /// Performs `body` on the driver's thread, and returns its result.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (_ application: Handle) throws(BackhaulError) -> Value
    ) async throws(BackhaulError) -> Value {
        let result: Result<Value, BackhaulError> = await withCheckedContinuation { continuation in
            let isPosted = post { application in
                do throws(BackhaulError) {
                    continuation.resume(returning: .success(try body(application)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            if !isPosted { continuation.resume(returning: .failure(.closed)) }
        }
        return try result.get()
    }

    /// Waits until the descriptor of a session is readable (see `Readiness`).
    func readable(_ descriptor: Int32, isNeeded: @Sendable () throws(BackhaulError) -> Bool) async throws {
        try await readiness.readable(descriptor, isNeeded: isNeeded)
    }

    func resume(_ descriptor: Int32) { readiness.resume(descriptor) }

    func forget(_ descriptor: Int32) { readiness.forget(descriptor) }

    /// Makes the driver's thread close the application, and returns immediately. All waiting Swift tasks get an error.
    /// A second call has no effect.
    func stop() {
        state.withLock { $0.isStopping = true }
        readiness.wake()
    }

    /// Closes the application, and returns when it is closed.
    func stopAndWait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.application == nil { return true }
                state.isStopping = true
                state.stopped.append(continuation)
                return false
            }
            if isOver { continuation.resume() } else { readiness.wake() }
        }
    }

    private func open(_ options: ApplicationOptions, _ timeout: Int32) throws(BackhaulError) {
        let application = try options.open(timeout: timeout)
        do {
            var descriptor: Int32 = -1
            try check { error in bh_application_event_fd(application.pointer, &descriptor, error) }
            try readiness.watchApplication(descriptor)
        } catch {
            bh_application_close(application.pointer)
            throw error
        }
        state.withLock { $0.application = application }
    }

    private func run() {
        while true {
            let (jobs, application) = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                return (jobs, state.application)
            }
            guard let application else { return }
            for job in jobs { job(application) }
            if state.withLock({ $0.isStopping && $0.jobs.isEmpty }) { return close(application) }
            deliver(application)
            readiness.wait(limit: tickets.needsRechecks() ? Driver.recheckMilliseconds : nil)
        }
    }

    /// The time between two checks whether a waiting Swift task has reached its time limit, in milliseconds.
    private static let recheckMilliseconds: Int32 = 250

    private func deliver(_ application: Handle) {
        while true {
            var ticket: OpaquePointer?
            let status = bh_application_next_ticket(application.pointer, &ticket, nil)
            guard Int(status) == BH_OK, let ticket else { break }
            tickets.ended(Handle(pointer: ticket))
        }
        tickets.expire()
        var batch: OpaquePointer?
        guard Int(bh_application_poll(application.pointer, 0, &batch, nil)) == BH_OK else { return }
        for session in Batch(batch).sessions() { attention.yield(session) }
    }

    private func close(_ application: Handle) {
        tickets.close()
        readiness.close()
        bh_application_close(application.pointer)
        attention.finish()
        let stopped = state.withLock { state in
            state.application = nil
            return state.stopped
        }
        for continuation in stopped { continuation.resume() }
    }
}

/// Starts a detached thread that blocks all signals, so that the program's signal handlers never run on this thread.
private func startThread(name: String, _ body: @escaping @Sendable () -> Void) -> BackhaulError? {
    final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    // Unsafe: the object is passed through C as a pointer with a retained reference. The new thread releases the
    // reference.
    let start = Unmanaged.passRetained(Start(body))
    var thread = pthread_t()
    let result = pthread_create(
        &thread, nil,
        { argument in
            guard let argument else { return nil }
            Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
            return nil
        }, start.toOpaque())
    guard result == 0 else {
        start.release()
        return BackhaulError(
            BH_OUT_OF_RESOURCES, domain: Int32(BH_DOMAIN_SYSTEM), detail: Int64(result),
            message: "a thread for the application cannot be started")
    }
    pthread_setname_np(thread, name)
    pthread_detach(thread)
    return nil
}
