internal import BackhaulBus
public import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// The systemd instance that runs the user's services (user@.service(5)). Backhaul calls it over the user's message
/// bus.
///
/// Each call waits up to two seconds on the calling thread, which must not be the thread of an event loop. A start of a
/// service that waits for its restart may take two seconds longer. Each object of this class belongs to one thread. The
/// object has one descriptor, which is closed when the object is freed. It starts no thread and no process.
public final class UserManager {
    /// The longest wait of one call.
    public static let callTimeoutMilliseconds: Int64 = 2_000
    /// The longest delay before the manager restarts a daemon (`RestartSec` in `backhaul service install`).
    private static let longestRestartDelayMilliseconds: Int64 = 2_000

    /// systemd's version, such as 252; 0 if it is not a number.
    public let version: Int

    private let connection: BusConnection
    private let listener: (processID: Int32, userID: UInt32)
    private var isWatchingJobs = false

    /// Connects to the manager. Returns nil if no manager replies.
    public static func connect() -> UserManager? { try? reach() }

    public enum Finding {
        case manager(UserManager)
        /// The reason, as one sentence.
        case none(reason: String)
    }

    /// Connects to the manager, or returns the reason why there is none.
    public static func find() -> Finding {
        do { return .manager(try reach()) } catch { return .none(reason: error.message) }
    }

    private static func reach() throws(Failure) -> UserManager {
        guard let address = BusAddress.user else {
            throw Failure(
                .notFound,
                "there is no user manager: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR leads to a bus here")
        }
        return try UserManager(address: address)
    }

    init(address: String, callTimeoutMilliseconds: Int64 = UserManager.callTimeoutMilliseconds) throws(Failure) {
        let deadline = Deadline.after(milliseconds: callTimeoutMilliseconds)
        guard BusConnection.isLibraryPresent else {
            throw Failure(.notFound, "there is no user manager to speak to: libsystemd.so.0 is not installed")
        }
        guard let connection = BusConnection(address: address), let listener = connection.listener else {
            throw Failure(.notFound, "there is no user manager: no bus listens at \(address)")
        }
        // After sudo, the environment may name the bus of another user. Services of that user cannot use the files of
        // this user.
        guard listener.userID == geteuid() else {
            throw Failure(
                .notFound, "the bus at \(address) belongs to user \(listener.userID), and this is user \(geteuid())")
        }
        do throws(BusConnection.CallError) {
            if BusAddress.hasManagerSocket { try UserManager.waitForName(connection, deadline) }
            let reply = try connection.call(
                .properties("Get", of: .manager), [.string(Name.manager), .string("Version")], until: deadline)
            let text = try reply.value { message throws(BusError) in
                try message.readVariant("s") { inner throws(BusError) in try inner.readString() }
            }
            version = Int(text.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 0
        } catch {
            throw error.failure(asking: "the user manager for its version")
        }
        self.connection = connection
        self.listener = listener
    }

    /// Waits until the manager has its name on the bus. The bus starts when its first client connects. If this process
    /// is the first client, the manager connects later.
    private static func waitForName(
        _ connection: BusConnection, _ deadline: Deadline
    ) throws(BusConnection.CallError) {
        let rule = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Name.systemd)'"
        _ = try connection.call(.bus("AddMatch"), [.string(rule)], until: deadline)
        let reply = try connection.call(.bus("NameHasOwner"), [.string(Name.systemd)], until: deadline)
        if try reply.value({ message throws(BusError) in try message.readBool() }) { return }
        _ = try connection.signal(until: deadline) { $0.isSignal("NameOwnerChanged", of: "org.freedesktop.DBus") }
    }

    /// Whether this absolute path leads to the same file for the manager's services and for this process. Returns false
    /// in a container that has the user's bus but other file systems. Returns nil if this is unknown.
    public func sees(_ path: String) -> Bool? {
        guard listener.processID > 0 else { return nil }
        guard let here = FileIdentity(at: path) else { return nil }
        guard let there = FileIdentity(at: "/proc/\(listener.processID)/root" + path) else {
            return bhl_errno() == ENOENT ? false : nil
        }
        return here == there
    }

    /// Starts the service and waits until its program runs. Throws if the program does not exist or fails immediately.
    /// In this case the manager does not restart the service.
    ///
    /// If a unit with this name exists, the unit is not changed, and `alreadyExisted` is set. If this unit is not
    /// running, it is started. So if two processes start the same service at the same time, both succeed. If the
    /// service waits for its restart after a failure, this call waits, too.
    @discardableResult
    public func startService(_ service: TransientService) throws(Failure) -> StartedService {
        let deadline = Deadline.after(milliseconds: UserManager.callTimeoutMilliseconds)
        if sees(service.program) == false {
            throw Failure(
                .notFound, "the user manager has other file systems than this process, without \(service.program)")
        }
        do throws(BusConnection.CallError) {
            try watchJobs(until: deadline)
            return try start(service, deadline)
        } catch {
            if case .refused(Name.jobFailed, _) = error {
                // Without this stop, the manager would restart the service although this call reports a failed start.
                _ = try? connection.call(
                    .manager("StopUnit"), [.string(service.name), .string("replace")], until: deadline)
                release(service.name, deadline)
            }
            throw error.failure(asking: "the user manager to start \(service.name)")
        }
    }

    /// Stops the service and waits until its processes have ended.
    /// - Returns: false if there was no service.
    @discardableResult
    public func stopService(_ name: String) throws(Failure) -> Bool {
        let deadline = Deadline.after(milliseconds: UserManager.callTimeoutMilliseconds)
        do throws(BusConnection.CallError) {
            try watchJobs(until: deadline)
            try run("StopUnit", [.string(name), .string("replace")], deadline)
            return true
        } catch {
            if case .refused(Name.noSuchUnit, _) = error { return false }
            throw error.failure(asking: "the user manager to stop \(name)")
        }
    }

    /// The state of a unit, or nil if the manager has no unit with this name.
    public func state(of name: String) throws(Failure) -> UnitState? {
        let deadline = Deadline.after(milliseconds: UserManager.callTimeoutMilliseconds)
        do throws(BusConnection.CallError) {
            return try activeState(name, deadline)
        } catch {
            throw error.failure(asking: "the user manager about \(name)")
        }
    }

    /// Whether the unit runs or will soon run.
    public func isActive(_ name: String) throws(Failure) -> Bool { try state(of: name)?.isRunning ?? false }

    private func transient(_ service: TransientService) -> [BusValue] {
        let properties = service.properties(version: version).map {
            BusValue.structure([.string($0.name), .variant($0.value)])
        }
        return [.string(service.name), .string("fail"), .array("(sv)", properties), .array("(sa(sv))", [])]
    }

    private func start(
        _ service: TransientService, _ deadline: Deadline
    ) throws(BusConnection.CallError) -> StartedService {
        var deadline = deadline
        var alreadyExisted = false
        while true {
            do throws(BusConnection.CallError) {
                try run("StartTransientUnit", transient(service), deadline)
            } catch {
                if case .refused(Name.jobFailed, _) = error, let ending = ending(service.name, deadline) {
                    throw .refused(name: Name.jobFailed, sentence: ending.clause(of: service.program))
                }
                guard case .refused(Name.unitExists, _) = error else { throw error }
                // Another process has started the service first, or a unit file exists.
                alreadyExisted = true
            }
            if alreadyExisted, try !startExisting(service.name, &deadline) {
                // The name is free again.
                alreadyExisted = false
                continue
            }
            let process = try mainProcess(service.name, deadline).flatMap(ProcessIdentity.of)
            if !alreadyExisted { release(service.name, deadline) }
            return StartedService(name: service.name, process: process, alreadyExisted: alreadyExisted)
        }
    }

    /// Starts a unit, unless its first process runs. Returns false if the manager has no such unit any more. If the
    /// service waits for its restart, sets a later deadline.
    private func startExisting(
        _ name: String, _ deadline: inout Deadline
    ) throws(BusConnection.CallError) -> Bool {
        let state = try activeState(name, deadline)
        if state?.isRunning == true, try mainProcess(name, deadline) != nil { return true }
        let isRestarting = state == .activating
        if isRestarting {
            deadline = .after(
                milliseconds: Self.longestRestartDelayMilliseconds + Self.callTimeoutMilliseconds)
        }
        do throws(BusConnection.CallError) {
            // If the service waits for its restart, this job waits, too. If the service is active without its first
            // process (`ExitType=cgroup`), this job changes nothing.
            try run("StartUnit", [.string(name), .string("replace")], deadline)
            return true
        } catch {
            switch error {
            case .refused(Name.noSuchUnit, _): return false
            // The service has reached its limit of starts. Then the manager unloads a unit without a file.
            case .refused(Name.jobFailed, _) where isRestarting:
                if try unit(name, deadline) == nil { return false }
                throw error
            default: throw error
            }
        }
    }

    /// Requests the signals about ended jobs.
    private func watchJobs(until deadline: Deadline) throws(BusConnection.CallError) {
        if isWatchingJobs { return }
        let rule = "type='signal',sender='\(Name.systemd)',interface='\(Name.manager)',member='JobRemoved'"
        _ = try connection.call(.bus("AddMatch"), [.string(rule)], until: deadline)
        _ = try connection.call(.manager("Subscribe"), [], until: deadline)
        isWatchingJobs = true
    }

    /// Queues a job and waits for its result.
    private func run(
        _ member: String, _ arguments: [BusValue], _ deadline: Deadline
    ) throws(BusConnection.CallError) {
        let reply = try connection.call(.manager(member), arguments, until: deadline)
        let job = try reply.value { message throws(BusError) in try message.readString("o") }
        while true {
            // The signal's arguments (uoss): the job's number and path, the unit's name, the result.
            let signal = try connection.signal(until: deadline) { $0.isSignal("JobRemoved", of: Name.manager) }
            let (path, result) = try signal.value { message throws(BusError) in
                _ = try message.readUInt32()
                let path = try message.readString("o")
                _ = try message.readString()
                return (path, try message.readString())
            }
            guard path == job else { continue }
            if result == "done" { return }
            throw .refused(name: Name.jobFailed, sentence: "its job ended as \"\(result)\"")
        }
    }

    private func unit(_ name: String, _ deadline: Deadline) throws(BusConnection.CallError) -> String? {
        do throws(BusConnection.CallError) {
            let reply = try connection.call(.manager("GetUnit"), [.string(name)], until: deadline)
            return try reply.value { message throws(BusError) in try message.readString("o") }
        } catch {
            if case .refused(Name.noSuchUnit, _) = error { return nil }
            throw error
        }
    }

    private func activeState(_ name: String, _ deadline: Deadline) throws(BusConnection.CallError) -> UnitState? {
        guard let path = try unit(name, deadline) else { return nil }
        let reply = try connection.call(
            .properties("Get", of: path), [.string(Name.unit), .string("ActiveState")], until: deadline)
        let text = try reply.value { message throws(BusError) in
            try message.readVariant("s") { inner throws(BusError) in try inner.readString() }
        }
        return UnitState(rawValue: text) ?? .inactive
    }

    /// Returns how the first process has ended, or nil if this is not known.
    private func ending(_ name: String, _ deadline: Deadline) -> ExitStatus? {
        guard let path = try? unit(name, deadline) else { return nil }
        func read(_ property: String) -> Int32? {
            let reply = try? connection.call(
                .properties("Get", of: path), [.string(Name.service), .string(property)], until: deadline)
            return try? reply?.readVariant("i") { inner throws(BusError) in try inner.readInt32() }
        }
        return read("ExecMainCode").flatMap { code in
            read("ExecMainStatus").flatMap { ExitStatus(code: code, status: $0) }
        }
    }

    /// Releases the reference to the unit, so that the manager removes the unit when the unit has ended. If the call
    /// fails, the end of the connection releases the reference.
    private func release(_ name: String, _ deadline: Deadline) {
        _ = try? connection.call(.manager("UnrefUnit"), [.string(name)], until: deadline)
    }

    /// The first process of the unit, or nil if it has ended.
    private func mainProcess(_ name: String, _ deadline: Deadline) throws(BusConnection.CallError) -> Int32? {
        guard let path = try unit(name, deadline) else { return nil }
        let reply = try connection.call(
            .properties("Get", of: path), [.string(Name.service), .string("MainPID")], until: deadline)
        let number = try reply.value { message throws(BusError) in
            try message.readVariant("u") { inner throws(BusError) in try inner.readUInt32() }
        }
        return number == 0 ? nil : Int32(exactly: number)
    }
}
