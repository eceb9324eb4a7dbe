internal import BackhaulBus

/// Settings of systemd.exec(5) that restrict the daemon's process. The transient unit and the unit file of a daemon
/// have the same settings.
///
/// A user manager has no privileges, so the list has only settings that need no namespace. docs/security.md says which
/// settings are missing, and what each of them would cost. systemd knows all settings from version 242 on.
public enum DaemonSandbox {
    enum Value {
        case yes
        /// An octal number, such as a file mode.
        case mode(UInt32)
        /// The list of what is allowed. All other elements are refused.
        case only([String])
        case list([String])
        /// No element is allowed; D-Bus has the allowed elements as bits.
        case none
        /// An error code and its name.
        case errno(Int32, String)
    }

    static let firstVersion = 242

    static let settings: [(name: String, value: Value)] = [
        ("NoNewPrivileges", .yes),
        ("LockPersonality", .yes),
        ("MemoryDenyWriteExecute", .yes),
        ("RestrictRealtime", .yes),
        ("RestrictSUIDSGID", .yes),
        ("RestrictNamespaces", .none),
        // Netlink has the changes of networks and of power supplies.
        ("RestrictAddressFamilies", .only(["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"])),
        ("SystemCallArchitectures", .list(["native"])),
        // The two calls read whether an NTP client keeps the clock right. Without a capability they cannot set it.
        ("SystemCallFilter", .only(["@system-service", "adjtimex", "clock_adjtime"])),
        ("SystemCallErrorNumber", .errno(1, "EPERM")),
        // The daemon sets this mask, too. Each request has the mode of its file.
        ("UMask", .mode(0o077)),
    ]

    /// The lines of a unit file (systemd.exec(5)).
    public static let unitLines: [String] = settings.map { "\($0.name)=\($0.value.text)" }

    /// The properties of a transient unit (org.freedesktop.systemd1(5)).
    /// - version: systemd's version; 0 if it is not known.
    static func properties(version: Int) -> [(name: String, value: BusValue)] {
        version < firstVersion ? [] : settings.map { ($0.name, $0.value.property) }
    }
}

extension DaemonSandbox.Value {
    var text: String {
        switch self {
        case .yes, .none: "yes"
        case .mode(let mode): "0" + String(mode, radix: 8)
        case .only(let words), .list(let words): words.joined(separator: " ")
        case .errno(_, let name): name
        }
    }

    var property: BusValue {
        switch self {
        case .yes: .bool(true)
        case .mode(let mode): .uint32(mode)
        case .only(let words): .structure([.bool(true), .strings(words)])
        case .list(let words): .strings(words)
        case .none: .uint64(0)
        case .errno(let code, _): .int32(code)
        }
    }
}
