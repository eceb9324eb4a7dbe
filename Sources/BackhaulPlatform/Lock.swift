internal import CLinux
internal import Glibc

/// A value that a mutex protects, with a condition variable to wait for changes. It is the only kind of lock in the
/// project's Swift code.
///
/// It uses a mutex of pthread, because ThreadSanitizer does not understand `Synchronization.Mutex` and reports false
/// races.
public final class Lock<Value>: @unchecked Sendable {
    // Unchecked: `value` is used only between lock and unlock of `mutex`.
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    public init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        condition.deallocate()
    }

    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Changes the value, and wakes all threads that wait for a change.
    public func change<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
        pthread_mutex_lock(mutex)
        defer {
            // The mutex is unlocked first, so that a woken thread does not have to wait for it.
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(condition)
        }
        return body(&value)
    }

    /// Wakes all threads that wait for a change. The caller has changed the value with `withLock`, and found that the
    /// waiting threads need the change.
    public func notify() { pthread_cond_broadcast(condition) }

    /// Calls `body` now and after each `change` or `notify` until `body` returns a result or the deadline has passed.
    /// If the deadline is nil, the call waits without a limit. Only threads of the library pass nil, because a
    /// program's own thread must not wait without a limit.
    public func wait<Result>(
        until deadline: Deadline?, _ body: (inout sending Value) -> sending Result?
    ) -> sending Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            guard let deadline else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            var time = deadline.monotonic
            if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return body(&value) }
        }
    }
}
