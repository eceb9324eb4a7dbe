public import BackhaulPlatform
internal import CLinux
internal import CSystemd
internal import Glibc

/// A connection to a message bus, for the few calls of one conversation. Not for two threads at once.
///
/// sd-bus's own waits are not used: until a bus has greeted they last up to 90 seconds, whatever limit a call was
/// given. Here each step is asked of sd-bus, and the waiting is poll(2) with the caller's deadline.
public final class BusConnection {
    /// Why a call has no result.
    public enum CallError: Error {
        /// The other side refused: the D-Bus error's name and sentence.
        case refused(name: String, sentence: String)
        case timedOut
        /// The connection broke, or the call could not be made.
        case broken(Int32)
    }

    private let library: bhl_systemd
    // Unsafe: an opaque object of libsystemd, whose reference is ours.
    private let bus: OpaquePointer
    /// sd-bus's own, noted so that forked children do not keep it.
    private let socket: Descriptor
    /// Signals that came while something else was awaited.
    private var signals: [BusMessage] = []

    /// Nil where libsystemd is missing or nobody listens. Does not wait.
    public init?(address: String) {
        guard let library = BusConnection.library else { return nil }
        var made: OpaquePointer?
        guard library.new(&made) >= 0, let bus = made else { return nil }
        let isStarted = library.set_address(bus, address) >= 0 && library.set_bus_client(bus, 1) >= 0
            && library.start(bus) >= 0
        let number = isStarted ? library.get_fd(bus) : -1
        guard number >= 0 else {
            library.close(bus)
            _ = library.unref(bus)
            return nil
        }
        self.library = library
        self.bus = bus
        socket = Descriptor(owning: number)
    }

    deinit {
        // A host that closed every descriptor may have a file of its own under this number by now: what is left of the
        // connection is memory, and stays.
        guard socket.isOurs else { return }
        // Without a flush, which waits: every reply that matters has come.
        library.close(bus)
        _ = library.unref(bus)
        socket.abandon()
    }

    public static var isLibraryPresent: Bool { library != nil }

    private static let library: bhl_systemd? = {
        var functions = bhl_systemd()
        return bhl_systemd_load(&functions) == 1 ? functions : nil
    }()

    /// Who made the socket (unix(7), SO_PEERCRED): the user manager itself where it listens for its bus.
    public var listener: (processID: Int32, userID: UInt32)? {
        var peer = bhl_peer()
        return bhl_peer_credential(socket.number, &peer) == 0 ? (peer.pid, peer.uid) : nil
    }


    /// Calls and waits for the reply.
    public func call(
        _ method: BusMethod, _ arguments: [BusValue], until deadline: Deadline
    ) throws(CallError) -> BusMessage {
        let cookie = try send(method, arguments)
        let reply = try next(until: deadline) { $0.replyCookie == cookie }
        if let error = reply.error { throw .refused(name: error.name, sentence: error.sentence) }
        return reply
    }

    /// Waits for the first signal that `isWanted`, also among those that have come already.
    public func signal(until deadline: Deadline, _ isWanted: (BusMessage) -> Bool) throws(CallError) -> BusMessage {
        if let index = signals.firstIndex(where: isWanted) { return signals.remove(at: index) }
        return try next(until: deadline) { $0.replyCookie == nil && isWanted($0) }
    }

    /// Hands a call over, whose reply will carry the cookie. Does not wait.
    public func send(_ method: BusMethod, _ arguments: [BusValue]) throws(CallError) -> UInt64 {
        try requireSocket()
        var made: OpaquePointer?
        var cookie: UInt64 = 0
        do throws(BusError) {
            try BusError.check(
                library.message_new_method_call(
                    bus, &made, method.destination, method.path, method.interface, method.member))
            guard let made else { throw BusError(code: ENOMEM) }
            let message = BusMessage(owning: made, library)
            // A bus without a manager answers that there is none, instead of trying to start one.
            try BusError.check(library.message_set_auto_start(message.pointer, 0))
            for argument in arguments { try message.append(argument) }
            try BusError.check(library.send(bus, message.pointer, &cookie))
        } catch {
            throw .broken(error.code)
        }
        return cookie
    }

    public enum Step {
        case message(BusMessage)
        /// Something was done, and there may be more to do.
        case progress
        /// There is nothing to do before `wait`.
        case idle
    }

    /// Does one thing that there is to do, without waiting.
    public func step() throws(CallError) -> Step {
        try requireSocket()
        var received: OpaquePointer?
        let result = library.process(bus, &received)
        if result < 0 { throw .broken(-result) }
        if let received { return .message(BusMessage(owning: received, library)) }
        return result == 0 ? .idle : .progress
    }

    /// Waits until there is something to do.
    /// - Parameters:
    ///   - deadline: Nil: for as long as it takes, which only the library's own threads do.
    ///   - other: Descriptors that end the wait when they are readable.
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
        var items = [pollfd(fd: socket.number, events: Int16(truncatingIfNeeded: events), revents: 0)]
        items += other.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&items, nfds_t(items.count), deadline.map { Int32(clamping: $0.millisecondsLeft) } ?? -1)
    }

    /// A host that closed every descriptor may have a file of its own under this number by now. Of an address with
    /// several alternatives sd-bus may have gone on to the next, whose socket has another number.
    private func requireSocket() throws(CallError) {
        let number = library.get_fd(bus)
        guard number >= 0 else { throw .broken(-number) }
        guard number == socket.number, socket.isOurs else { throw .broken(EBADF) }
    }

    /// The first message that `isWanted`. Signals that are not are kept, anything else is dropped.
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
