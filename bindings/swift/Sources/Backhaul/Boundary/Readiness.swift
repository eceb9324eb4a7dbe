internal import CBackhaul
internal import CBackhaulSystem
internal import Glibc
internal import Synchronization

/// The event descriptors for which the driver's thread (the one thread of an application) waits, and the Swift tasks
/// that wait for the descriptor of a session.
final class Readiness: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        /// The descriptors that were added to epoll.
        var known: Set<Int32> = []
        var waiting: [Int32: [UInt64: Waiter]] = [:]
        /// Each wait has a number. This set has the numbers of the waits whose Swift task was cancelled before the wait
        /// began.
        var cancelled: Set<UInt64> = []
        var lastNumber: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let epoll: Int32
    private let wakeUp: Int32

    init() throws(BackhaulError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw Readiness.lastError("An epoll set cannot be made.") }
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeUp >= 0, control(EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue) else {
            throw Readiness.lastError("An event descriptor cannot be made.")
        }
    }

    deinit {
        Glibc.close(wakeUp)
        Glibc.close(epoll)
    }

    func wake() {
        var one: UInt64 = 1
        _ = write(wakeUp, &one, 8)
    }

    /// Watches the application's event descriptor. The watch is edge-triggered, because the descriptor stays readable
    /// while a session has events that no poll has returned. The end of each command causes a new edge.
    func watchApplication(_ descriptor: Int32) throws(BackhaulError) {
        guard control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue | EPOLLET.rawValue) else {
            throw Readiness.lastError("The library's event descriptor cannot be waited for.")
        }
    }

    /// Waits until the descriptor is readable, or `resume` is called for it. Throws if the Swift task is cancelled, or
    /// if the driver is closed.
    ///
    /// - Parameter isNeeded: Returns whether the wait is still needed. Throws if the descriptor is closed, or will be
    ///   closed soon (see `forget`).
    func readable(_ descriptor: Int32, isNeeded: @Sendable () throws(BackhaulError) -> Bool) async throws {
        let number = state.withLock { state in
            state.lastNumber &+= 1
            return state.lastNumber
        }
        defer { _ = state.withLock { $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Waiter) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.isClosed { return .failure(BackhaulError.closed) }
                    if state.cancelled.contains(number) { return .failure(CancellationError()) }
                    do throws(BackhaulError) {
                        if try !isNeeded() { return .success(()) }
                    } catch {
                        return .failure(error)
                    }
                    // With EPOLLONESHOT, epoll reports the descriptor only one time. The next wait for the descriptor
                    // enables the report again.
                    let events = EPOLLIN.rawValue | EPOLLONESHOT.rawValue
                    let isKnown = !state.known.insert(descriptor).inserted
                    guard control(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, events) else {
                        state.known.remove(descriptor)
                        return .failure(
                            Readiness.lastError("The session's event descriptor cannot be waited for."))
                    }
                    state.waiting[descriptor, default: [:]][number] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let continuation: Waiter? = state.withLock { state in
                for descriptor in state.waiting.keys {
                    if let waiter = state.waiting[descriptor]?.removeValue(forKey: number) { return waiter }
                }
                state.cancelled.insert(number)
                return nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Ends all waits for the descriptor, as if it were readable.
    func resume(_ descriptor: Int32) {
        let waiters = state.withLock { $0.waiting.removeValue(forKey: descriptor) }
        for waiter in (waiters ?? [:]).values { waiter.resume() }
    }

    /// Stops watching a descriptor that the library will close. All waits for this descriptor throw.
    func forget(_ descriptor: Int32) {
        let waiters = state.withLock { state in
            if state.known.remove(descriptor) != nil { _ = control(EPOLL_CTL_DEL, descriptor, 0) }
            return state.waiting.removeValue(forKey: descriptor)
        }
        for waiter in (waiters ?? [:]).values { waiter.resume(throwing: BackhaulError.closed) }
    }

    /// Waits until a descriptor is readable, and resumes the Swift tasks that wait for it. `milliseconds` is the
    /// longest wait. If it is nil, the wait has no limit.
    func wait(limit milliseconds: Int32?) {
        let capacity = 64
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: capacity) { events in
            let count = epoll_wait(epoll, events.baseAddress, Int32(capacity), milliseconds ?? -1)
            for index in 0..<max(0, Int(count)) {
                let descriptor = events[index].data.fd
                if descriptor == wakeUp {
                    var value: UInt64 = 0
                    _ = read(wakeUp, &value, 8)
                    continue
                }
                resume(descriptor)
            }
        }
    }

    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            let waiting = state.waiting
            state.waiting = [:]
            return waiting
        }
        for waiter in waiting.values.flatMap({ $0.values }) { waiter.resume(throwing: BackhaulError.closed) }
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.fd = descriptor
        return epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    private static func lastError(_ message: String) -> BackhaulError {
        BackhaulError(
            BH_OUT_OF_RESOURCES, domain: Int32(BH_DOMAIN_SYSTEM), detail: Int64(bh_swift_errno()), message: message)
    }
}
