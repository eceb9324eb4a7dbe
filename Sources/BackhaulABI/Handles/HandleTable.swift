internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
internal import CBackhaul
internal import Synchronization

// Unsafe: the value of a handle is computed from a number, and no handle is dereferenced.

/// All open handles of the process. Each handle has a number that no earlier handle of the process had. So the use of a
/// closed handle is always detected.
final class HandleTable: Sendable {
    private struct State {
        var targets: [HandleNumber: HandleTarget] = [:]
        var tickets: [ObjectIdentifier: HandleNumber] = [:]

        mutating func remove(_ number: HandleNumber) {
            if case .ticket(let verb) = targets.removeValue(forKey: number) {
                tickets[ObjectIdentifier(verb.ticket)] = nil
            }
        }
    }

    static let current = HandleTable()

    private let nextNumber = Atomic<UInt64>(HandleNumber.first)
    private let state = Lock(State())

    /// Adds a handle. Throws if another thread has closed the target's application during the call.
    func insert(_ target: HandleTarget) throws(Failure) -> OpaquePointer {
        let number = HandleNumber(rawValue: nextNumber.add(1, ordering: .relaxed).oldValue)
        guard let pointer = number.pointer else {
            throw Failure(.tooMany, "the process has used up its handle numbers; start it again")
        }
        let isOpen = state.withLock { state in
            if let application = target.application, state.targets[application] == nil { return false }
            state.targets[number] = target
            if case .ticket(let verb) = target { state.tickets[ObjectIdentifier(verb.ticket)] = number }
            return true
        }
        guard isOpen else {
            throw Failure(.invalidHandle, "the application was closed by another thread during the call")
        }
        return pointer
    }

    /// The number of the handle, and its target. `name`: the argument's name in error messages.
    func target(of pointer: OpaquePointer?, _ name: String) throws(Failure) -> (HandleNumber, HandleTarget) {
        guard let pointer else { throw Failure(.invalidHandle, "\(name) is NULL, but an open handle is required") }
        guard let number = HandleNumber(pointer) else {
            throw Failure(.invalidHandle, "\(name) was never a handle of this library")
        }
        if let target = state.withLock({ $0.targets[number] }) { return (number, target) }
        let closed = name == "application" ? "the application" : "the \(name) or its application"
        throw Failure(.invalidHandle, "\(closed) was closed")
    }

    /// The target of an open handle, for functions without a status. Nil for other pointers.
    func target(of pointer: OpaquePointer?) -> HandleTarget? {
        guard let pointer, let number = HandleNumber(pointer) else { return nil }
        return state.withLock { $0.targets[number] }
    }

    /// The handle of a ticket; nil if the ticket has no handle.
    func pointer(of ticket: Ticket) -> OpaquePointer? {
        state.withLock { $0.tickets[ObjectIdentifier(ticket)] }?.pointer
    }

    /// Removes the handle and returns its target. Nil if the pointer is not an open handle of this kind.
    func remove<Kind>(_ pointer: OpaquePointer?, _ kind: (HandleTarget) -> Kind?) -> Kind? {
        guard let pointer, let number = HandleNumber(pointer) else { return nil }
        let target: HandleTarget? = state.withLock { state in
            guard let target = state.targets[number], kind(target) != nil else { return nil }
            state.remove(number)
            return target
        }
        return target.flatMap(kind)
    }

    /// Removes the handle of an application, and the handles of its sessions and tickets.
    func removeApplication(_ pointer: OpaquePointer?) -> ApplicationClient? {
        guard let pointer, let number = HandleNumber(pointer) else { return nil }
        return state.withLock { state in
            guard case .application(let client) = state.targets[number] else { return nil }
            let owned = state.targets.filter { $0.value.application == number }.keys
            for number in owned { state.remove(number) }
            state.remove(number)
            return client
        }
    }
}
