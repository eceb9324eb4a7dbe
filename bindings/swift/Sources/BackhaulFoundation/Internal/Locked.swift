internal import Foundation

/// A value that is protected by a mutex.
final class Locked<Value>: @unchecked Sendable {
    // Unchecked: the value is used only while the mutex is locked.
    private var value: Value
    private let lock = NSLock()

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
