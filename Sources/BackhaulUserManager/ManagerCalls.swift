internal import BackhaulModel
internal import BackhaulPlatform

/// Names of the manager's interface (org.freedesktop.systemd1(5)).
enum Name {
    static let systemd = "org.freedesktop.systemd1"
    static let manager = "org.freedesktop.systemd1.Manager"
    static let unit = "org.freedesktop.systemd1.Unit"
    static let service = "org.freedesktop.systemd1.Service"
    static let unitExists = "org.freedesktop.systemd1.UnitExists"
    static let noSuchUnit = "org.freedesktop.systemd1.NoSuchUnit"
    /// Our own: the manager accepted the job, and it failed.
    static let jobFailed = "org.freedesktop.systemd1.JobFailed"
}

extension String {
    /// The path of the manager's object.
    static let manager = "/org/freedesktop/systemd1"
}

extension BusConnection.Method {
    static func manager(_ member: String) -> Self {
        Self(destination: Name.systemd, path: .manager, interface: Name.manager, member: member)
    }

    static func properties(_ member: String, of path: String, at destination: String = Name.systemd) -> Self {
        Self(destination: destination, path: path, interface: "org.freedesktop.DBus.Properties", member: member)
    }

    /// Of the bus itself (D-Bus specification, "Message Bus Messages").
    static func bus(_ member: String) -> Self {
        Self(
            destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: member)
    }
}

extension BusMessage {
    /// What `read` makes of the message's contents.
    func value<Result>(
        _ read: (BusMessage) throws(BusError) -> Result
    ) throws(BusConnection.CallError) -> Result {
        do throws(BusError) { return try read(self) } catch { throw .broken(error.code) }
    }
}

extension BusConnection.CallError {
    func failure(asking what: String) -> Failure {
        switch self {
        case .refused(_, let sentence):
            Failure(.engineFailed, "Asking \(what) failed: \(Self.clause(sentence)).")
        case .timedOut:
            Failure(.timeout, "Asking \(what) had no answer within the limit; it may hang.")
        case .broken(let code):
            .system(.engineFailed, code: code, "Asking \(what) failed: \(SystemError.reason(of: code)).")
        }
    }

    /// systemd ends its sentences with a full stop, or does not.
    private static func clause(_ sentence: String) -> String {
        if sentence.isEmpty { return "it refused" }
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}
