internal import BackhaulPlatform
internal import CLinux
internal import CSystemd
internal import Glibc

/// A connection to a message bus, for the few calls of one conversation. Not for two threads at once.
///
/// sd-bus's own waits are not used: until a bus has greeted they last up to 90 seconds, whatever limit a call was
/// given. Here each step is asked of sd-bus, and the waiting is poll(2) with the caller's deadline.
final class BusConnection {
    /// Why a call has no result.
    enum CallError: Error {
        /// The other side refused: the D-Bus error's name and sentence.
        case refused(name: String, sentence: String)
        case timedOut
        /// The connection broke, or the call could not be made.
        case broken(Int32)
    }

    private let library: bhl_systemd
    // Unsafe: an opaque object of libsystemd, whose reference is ours.
    private let bus: OpaquePointer
    /// Signals that came while something else was awaited.
    private var signals: [BusMessage] = []

    /// Nil where libsystemd is missing or nobody listens. Does not wait.
    init?(address: String) {
        guard let library = BusConnection.library else { return nil }
        var made: OpaquePointer?
        guard library.new(&made) >= 0, let bus = made else { return nil }
        self.library = library
        self.bus = bus
        guard library.set_address(bus, address) >= 0, library.set_bus_client(bus, 1) >= 0, library.start(bus) >= 0
        else { return nil }
    }

    deinit {
        // Without a flush, which waits: every reply that matters has come.
        library.close(bus)
        _ = library.unref(bus)
    }

    static var isLibraryPresent: Bool { library != nil }

    private static let library: bhl_systemd? = {
        var functions = bhl_systemd()
        return bhl_systemd_load(&functions) == 1 ? functions : nil
    }()

    /// Who made the socket (unix(7), SO_PEERCRED): the user manager itself where it listens for its bus.
    var listener: bhl_peer? {
        var peer = bhl_peer()
        let descriptor = library.get_fd(bus)
        return descriptor >= 0 && bhl_peer_credential(descriptor, &peer) == 0 ? peer : nil
    }

    struct Method {
        var destination: String
        var path: String
        var interface: String
        var member: String
    }

    /// Calls and waits for the reply.
    func call(_ method: Method, _ arguments: [BusValue], until deadline: Deadline) throws(CallError) -> BusMessage {
        let cookie = try send(method, arguments)
        let reply = try next(until: deadline) { $0.replyCookie == cookie }
        if let error = reply.error { throw .refused(name: error.name, sentence: error.sentence) }
        return reply
    }

    /// Waits for the first signal that `isWanted`, also among those that have come already.
    func signal(until deadline: Deadline, _ isWanted: (BusMessage) -> Bool) throws(CallError) -> BusMessage {
        if let index = signals.firstIndex(where: isWanted) { return signals.remove(at: index) }
        return try next(until: deadline) { $0.replyCookie == nil && isWanted($0) }
    }

    private func send(_ method: Method, _ arguments: [BusValue]) throws(CallError) -> UInt64 {
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

    /// The first message that `isWanted`. Signals that are not are kept, anything else is dropped.
    private func next(until deadline: Deadline, _ isWanted: (BusMessage) -> Bool) throws(CallError) -> BusMessage {
        while true {
            var received: OpaquePointer?
            let result = library.process(bus, &received)
            if result < 0 { throw .broken(-result) }
            if let received {
                let message = BusMessage(owning: received, library)
                if isWanted(message) { return message }
                if message.replyCookie == nil, signals.count < 1_000 { signals.append(message) }
            }
            if deadline.hasPassed { throw .timedOut }
            if result == 0 { try wait(until: deadline) }
        }
    }

    private func wait(until deadline: Deadline) throws(CallError) {
        let descriptor = library.get_fd(bus)
        let events = library.get_events(bus)
        guard descriptor >= 0, events >= 0 else { throw .broken(-min(descriptor, events)) }
        var own: UInt64 = UInt64.max
        // 0: sd-bus has something to do without any input.
        if library.get_timeout(bus, &own) > 0, own == 0 { return }
        var item = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
        poll(&item, 1, Int32(clamping: deadline.millisecondsLeft))
        if item.revents & Int16(POLLNVAL) != 0 { throw .broken(EBADF) }
    }
}
