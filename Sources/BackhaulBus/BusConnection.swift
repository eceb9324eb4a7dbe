public import BackhaulPlatform
internal import CLinux
internal import CSystemd
internal import Glibc

/// A connection to a message bus. Two threads must not use it at the same time.
///
/// The waiting functions of sd-bus are not used. Before the bus has accepted the connection, such a function may wait
/// for 90 seconds, even if the call has a shorter limit. Here sd-bus does each step without waiting, and poll(2) waits
/// until the caller's deadline.
public final class BusConnection {
    /// Why a call has no result.
    public enum CallError: Error {
        /// The service or the bus replied with a D-Bus error of this name. The sentence explains the error.
        case refused(name: String, sentence: String)
        case timedOut
        /// The connection ended, or the call could not be sent. The value is an errno.
        case broken(Int32)
    }

    private let library: bhl_systemd
    // Unsafe: an opaque object of libsystemd. We own the reference.
    private let bus: OpaquePointer
    /// The socket, which sd-bus closes. Forked children close their copies, so that the bus notices the end of this
    /// process.
    private let socket: Int32
    /// The signals that arrived during a wait for another message.
    private var signals: [BusMessage] = []

    /// Connects without waiting. Returns nil if libsystemd is missing, or if no bus listens at the address.
    public init?(address: String) {
        guard let library = BusConnection.library else { return nil }
        var made: OpaquePointer?
        guard library.new(&made) >= 0, let bus = made else { return nil }
        let isStarted =
            library.set_address(bus, address) >= 0 && library.set_bus_client(bus, 1) >= 0
            && library.start(bus) >= 0
        let number = isStarted ? library.get_fd(bus) : -1
        guard number >= 0 else {
            library.close(bus)
            _ = library.unref(bus)
            return nil
        }
        self.library = library
        self.bus = bus
        socket = number
        ForkGuard.add(number)
    }

    deinit {
        // The guard ends before the close, because another file may get the number after the close.
        ForkGuard.remove(socket)
        // The connection is closed without a flush, because a flush would wait. All replies that matter have arrived.
        library.close(bus)
        _ = library.unref(bus)
    }

    public static var isLibraryPresent: Bool { library != nil }

    private static let library: bhl_systemd? = {
        var functions = bhl_systemd()
        return bhl_systemd_load(&functions) == 1 ? functions : nil
    }()

    /// The process that listens on the socket (unix(7), SO_PEERCRED). If systemd's user manager made the socket of the
    /// bus, this process is the user manager.
    public var listener: (processID: Int32, userID: UInt32)? {
        var peer = bhl_peer()
        return bhl_peer_credential(socket, &peer) == 0 ? (peer.pid, peer.uid) : nil
    }

    /// Sends a call and waits for its reply.
    /// - startsService: whether the bus starts the service if it does not run.
    public func call(
        _ method: BusMethod, _ arguments: [BusValue], startsService: Bool = false, until deadline: Deadline
    ) throws(CallError) -> BusMessage {
        let cookie = try send(method, arguments, startsService: startsService)
        let reply = try next(until: deadline) { $0.replyCookie == cookie }
        if let error = reply.error { throw .refused(name: error.name, sentence: error.sentence) }
        return reply
    }

    /// Waits for the first signal that satisfies `isWanted`. A signal that has already arrived is returned immediately.
    public func signal(until deadline: Deadline, _ isWanted: (BusMessage) -> Bool) throws(CallError) -> BusMessage {
        if let index = signals.firstIndex(where: isWanted) { return signals.remove(at: index) }
        return try next(until: deadline) { $0.replyCookie == nil && isWanted($0) }
    }

    /// Returns the next signal that has arrived, and does not wait. Nil if there is none.
    public func nextSignal() throws(CallError) -> BusMessage? {
        if !signals.isEmpty { return signals.removeFirst() }
        while true {
            switch try step() {
            case .message(let message): if message.replyCookie == nil { return message }
            case .progress: continue
            case .idle: return nil
            }
        }
    }

    /// Sends a call without waiting. Returns the cookie of the call: a number that the reply contains, too.
    /// - startsService: whether the bus starts the service if it does not run. Otherwise, the bus reports at once that
    ///   the service is missing.
    public func send(
        _ method: BusMethod, _ arguments: [BusValue], startsService: Bool = false
    ) throws(CallError) -> UInt64 {
        try requireSocket()
        var made: OpaquePointer?
        do throws(BusError) {
            try BusError.check(
                library.message_new_method_call(
                    bus, &made, method.destination, method.path, method.interface, method.member))
            let message = try message(made)
            try BusError.check(library.message_set_auto_start(message.pointer, startsService ? 1 : 0))
            return try send(message, arguments)
        } catch {
            throw .broken(error.code)
        }
    }

    /// Sends a signal to all connections of the bus that have asked for it.
    public func emit(
        _ member: String, of interface: String, path: String, _ arguments: [BusValue]
    ) throws(CallError) {
        try requireSocket()
        var made: OpaquePointer?
        do throws(BusError) {
            try BusError.check(library.message_new_signal(bus, &made, path, interface, member))
            _ = try send(message(made), arguments)
        } catch {
            throw .broken(error.code)
        }
    }

    private func message(_ made: OpaquePointer?) throws(BusError) -> BusMessage {
        guard let made else { throw BusError(code: ENOMEM) }
        return BusMessage(owning: made, library)
    }

    private func send(_ message: BusMessage, _ arguments: [BusValue]) throws(BusError) -> UInt64 {
        var cookie: UInt64 = 0
        for argument in arguments { try message.append(argument) }
        try BusError.check(library.send(bus, message.pointer, &cookie))
        return cookie
    }

    /// The socket, and the events for which a caller's own poll(2) waits. After one of them, `nextSignal` has work.
    public var awaited: (descriptor: Int32, events: Int16) {
        (socket, Int16(truncatingIfNeeded: max(0, library.get_events(bus))))
    }

    public enum Step {
        case message(BusMessage)
        /// A step was done, and another step may be possible.
        case progress
        /// No step is possible before the next `wait`.
        case idle
    }

    /// Does one step without waiting.
    public func step() throws(CallError) -> Step {
        try requireSocket()
        var received: OpaquePointer?
        let result = library.process(bus, &received)
        if result < 0 { throw .broken(-result) }
        if let received { return .message(BusMessage(owning: received, library)) }
        return result == 0 ? .idle : .progress
    }

    /// Waits until another step is possible.
    /// - deadline: if it is nil, the call waits without a limit. Only the library's own threads may wait so long.
    /// - other: descriptors that end the wait when they are readable.
    public func wait(until deadline: Deadline?, or other: [Int32] = []) throws(CallError) {
        try requireSocket()
        let events = library.get_events(bus)
        guard events >= 0 else { throw .broken(-events) }
        var deadline = deadline
        var own: UInt64 = UInt64.max
        if library.get_timeout(bus, &own) > 0, own != UInt64.max {
            let own = Deadline.at(monotonicMicroseconds: own)
            deadline = min(deadline ?? own, own)
        }
        var items = [pollfd(fd: socket, events: Int16(truncatingIfNeeded: events), revents: 0)]
        items += other.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&items, nfds_t(items.count), deadline.map { Int32(clamping: $0.millisecondsLeft) } ?? -1)
    }

    /// Throws if the connection does not use its first socket any more. If the address has several alternatives, sd-bus
    /// may have tried the next one, whose socket has another number.
    private func requireSocket() throws(CallError) {
        let number = library.get_fd(bus)
        guard number >= 0 else { throw .broken(-number) }
        guard number == socket else { throw .broken(EBADF) }
    }

    /// Waits for the first message that satisfies `isWanted`. Signals that arrive before this message are buffered; the
    /// buffer has room for 1,000 signals. All other messages are dropped.
    private func next(until deadline: Deadline, _ isWanted: (BusMessage) -> Bool) throws(CallError) -> BusMessage {
        while true {
            let step = try step()
            if case .message(let message) = step {
                if isWanted(message) { return message }
                if message.replyCookie == nil, signals.count < 1_000 { signals.append(message) }
            }
            if deadline.hasPassed { throw .timedOut }
            if case .idle = step { try wait(until: deadline) }
        }
    }
}
