import BackhaulBus
import BackhaulPlatform
import Glibc

/// The user's message bus, and the services of the desktop on it.
final class SessionBus {
    /// What has arrived from a service.
    enum Arrival {
        /// A signal of a process with these services. A desktop may have all of them in one process.
        case signal(BusMessage, services: Set<String>)
        /// The service has started, has ended, or runs in another process now.
        case changed(service: String, ranBefore: Bool)
    }

    /// The longest wait for a reply, in milliseconds.
    private static let patience: Int64 = 2000
    private static let bus = "org.freedesktop.DBus"

    private let connection: BusConnection
    /// The unique names of the connections that own the names of services. A service that does not run has none.
    private var owners: [String: String] = [:]
    private var services: [String] = []

    init() throws(CommandError) {
        guard BusConnection.isLibraryPresent else {
            throw SessionBus.missing("libsystemd.so.0 is not installed; install the package libsystemd0")
        }
        guard let address = BusAddress.user else {
            throw SessionBus.missing(
                "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR leads to a bus here; run the command in a "
                    + "desktop session")
        }
        guard let connection = BusConnection(address: address) else {
            throw SessionBus.missing("no bus listens at \(address); run the command in a desktop session")
        }
        self.connection = connection
    }

    private static func missing(_ reason: String) -> CommandError {
        .stopped(.tryAgainLater, "there is no session bus: \(reason)")
    }

    /// Takes a name on the bus. Throws if another process has it.
    func own(_ name: String) throws(CommandError) {
        // The flag 4 is DBUS_NAME_FLAG_DO_NOT_QUEUE, and the reply 1 is DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER.
        guard let reply = try call(.bus("RequestName"), [.string(name), .uint32(4)]) else {
            throw .stopped(.tryAgainLater, "the session bus does not reply; log in again, or wait until it does")
        }
        if try reading(reply, { (message) throws(BusError) in try message.readUInt32() }) == 1 { return }
        throw .stopped(.tryAgainLater, "another process shows the transfers of this store on the desktop")
    }

    /// From now on, `arrival` reports the signals of the service, its starts and its ends.
    func follow(_ service: String) throws(CommandError) {
        services.append(service)
        let changes = "type='signal',sender='\(SessionBus.bus)',member='NameOwnerChanged',arg0='\(service)'"
        for rule in ["type='signal',sender='\(service)'", changes] { try call(.bus("AddMatch"), [.string(rule)]) }
        guard let reply = try call(.bus("GetNameOwner"), [.string(service)]) else { return }
        owners[service] = try reading(reply) { (message) throws(BusError) in try message.readString() }
    }

    func isRunning(_ service: String) -> Bool { owners[service] != nil }

    /// Calls a method and waits for the reply. Nil if the service refuses, does not run or does not reply.
    /// - Parameter startsService: Whether the bus starts a service that does not run.
    @discardableResult
    func call(
        _ method: BusMethod, _ arguments: [BusValue], startsService: Bool = false
    ) throws(CommandError) -> BusMessage? {
        do {
            return try connection.call(
                method, arguments, startsService: startsService, until: .after(milliseconds: SessionBus.patience))
        } catch {
            guard case .broken(let code) = error else { return nil }
            throw SessionBus.broken(code)
        }
    }

    /// Calls a method and does not wait for the reply.
    func send(
        _ method: BusMethod, _ arguments: [BusValue], startsService: Bool = false
    ) throws(CommandError) {
        try checked { () throws(BusConnection.CallError) in
            _ = try connection.send(method, arguments, startsService: startsService)
        }
    }

    func emit(
        _ member: String, of interface: String, path: String, _ arguments: [BusValue]
    ) throws(CommandError) {
        try checked { () throws(BusConnection.CallError) in
            try connection.emit(member, of: interface, path: path, arguments)
        }
    }

    /// What poll(2) has to wait for. Afterwards, `arrival` has work.
    var awaited: pollfd {
        let (descriptor, events) = connection.awaited
        return pollfd(fd: descriptor, events: events, revents: 0)
    }

    /// What has arrived next. Nil if nothing has.
    func arrival() throws(CommandError) -> Arrival? {
        while let message = try checked({ () throws(BusConnection.CallError) in try connection.nextSignal() }) {
            if message.sender == SessionBus.bus, message.isSignal("NameOwnerChanged", of: SessionBus.bus) {
                let names = try reading(message) { (message) throws(BusError) in
                    (try message.readString(), try message.readString(), try message.readString())
                }
                guard services.contains(names.0) else { continue }
                owners[names.0] = names.2.isEmpty ? nil : names.2
                return .changed(service: names.0, ranBefore: !names.1.isEmpty)
            }
            // Each program can send a signal to this connection, but the bus sets the sender.
            let senders = services.filter { owners[$0] != nil && owners[$0] == message.sender }
            if !senders.isEmpty { return .signal(message, services: Set(senders)) }
        }
        return nil
    }

    /// Reads the arguments of a message from the bus itself.
    func reading<Value>(
        _ message: BusMessage, _ read: (BusMessage) throws(BusError) -> Value
    ) throws(CommandError) -> Value {
        try checked { () throws(BusConnection.CallError) in try message.value(read) }
    }

    private func checked<Value>(
        _ body: () throws(BusConnection.CallError) -> Value
    ) throws(CommandError) -> Value {
        do {
            return try body()
        } catch {
            if case .broken(let code) = error { throw SessionBus.broken(code) }
            throw .stopped(.tryAgainLater, "the session bus does not reply; log in again, or wait until it does")
        }
    }

    private static func broken(_ code: Int32) -> CommandError {
        .stopped(
            .tryAgainLater,
            "the connection to the session bus has ended: \(SystemError.reason(of: code)); log in again, and run the "
                + "command in the new desktop session")
    }
}
