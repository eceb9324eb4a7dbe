internal import BackhaulBus
internal import BackhaulModel
internal import BackhaulPlatform

/// Names in the D-Bus interface of systemd's manager (org.freedesktop.systemd1(5)).
enum Name {
    static let systemd = "org.freedesktop.systemd1"
    static let manager = "org.freedesktop.systemd1.Manager"
    static let unit = "org.freedesktop.systemd1.Unit"
    static let service = "org.freedesktop.systemd1.Service"
    static let unitExists = "org.freedesktop.systemd1.UnitExists"
    static let noSuchUnit = "org.freedesktop.systemd1.NoSuchUnit"
    /// A name that only this library uses: the manager accepted the job, and the job failed.
    static let jobFailed = "org.freedesktop.systemd1.JobFailed"
}

extension String {
    /// The path of the manager's object.
    static let manager = "/org/freedesktop/systemd1"
}

extension BusMethod {
    static func manager(_ member: String) -> BusMethod {
        BusMethod(destination: Name.systemd, path: .manager, interface: Name.manager, member: member)
    }

    static func properties(_ member: String, of path: String) -> BusMethod {
        properties(member, of: path, at: Name.systemd)
    }
}

extension BusConnection.CallError {
    func failure(asking what: String) -> Failure {
        switch self {
        case .refused(_, let sentence):
            Failure(.engineFailed, "asking \(what) failed: \(Self.clause(sentence))")
        case .timedOut:
            Failure(.timeout, "asking \(what) got no reply within the limit; it may hang")
        case .broken(let code):
            .system(.engineFailed, code: code, "asking \(what) failed: \(SystemError.reason(of: code))")
        }
    }

    /// Returns the sentence without its full stop. Only some of systemd's sentences end with a full stop.
    private static func clause(_ sentence: String) -> String {
        if sentence.isEmpty { return "it refused" }
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}
