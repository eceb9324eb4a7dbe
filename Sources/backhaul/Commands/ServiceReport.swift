import BackhaulUserManager

/// The status of the systemd service that runs a store's daemon.
struct ServiceReport {
    private let daemon: Unit
    /// The version of systemd, or the reason why there is no user manager.
    private let manager: Manager
    private let lingering: Lingering
    /// The line for a crontab that starts the daemon at boot. Nil on a machine with systemd, after an uninstallation,
    /// or if the program of the daemon is missing.
    private let crontabLine: String?
    /// The unit that shows the transfers on the desktop. Nil if there is no directory for its desktop entry.
    private let desktop: (unit: Unit, entry: String)?

    private struct Unit {
        let name: String
        let path: String
        let isInstalled: Bool
        let isEnabled: Bool
        let state: UnitState?

        init(_ file: ServiceFile, _ manager: UserManager?) {
            name = file.name
            path = file.path
            isInstalled = file.exists
            isEnabled = file.isEnabled
            state = manager.flatMap { try? $0.state(of: file.name) }
        }
    }

    private enum Manager {
        case version(Int)
        case none(reason: String)
    }

    init(_ file: ServiceFile, _ desktop: DesktopUnit?, crontabLine: String?) {
        let found: UserManager?
        switch UserManager.find() {
        case .manager(let reached):
            manager = .version(reached.version)
            found = reached
        case .none(let reason):
            manager = .none(reason: reason)
            found = nil
        }
        daemon = Unit(file, found)
        self.desktop = desktop.map { (unit: Unit($0.file, found), entry: $0.entry) }
        lingering = Lingering.current
        self.crontabLine = crontabLine
    }

    var isInstalled: Bool { daemon.isInstalled }

    var json: JSON {
        let version: JSON =
            switch manager {
            case .version(let number): .integer(Int64(number))
            case .none: .null
            }
        return .object([
            ("unit", .string(daemon.name)), ("file", .string(daemon.path)), ("installed", .bool(daemon.isInstalled)),
            ("enabled", .bool(daemon.isEnabled)), ("systemd", version), ("state", .optional(daemon.state?.rawValue)),
            ("lingering", lingering == .absent ? .null : .bool(lingering == .on)),
            ("crontab", .optional(crontabLine)), ("desktop", desktopJSON),
        ])
    }

    private var desktopJSON: JSON {
        guard let (unit, entry) = desktop else { return .null }
        return .object([
            ("unit", .string(unit.name)), ("file", .string(unit.path)), ("entry", .string(entry)),
            ("installed", .bool(unit.isInstalled)), ("enabled", .bool(unit.isEnabled)),
            ("state", .optional(unit.state?.rawValue)),
        ])
    }

    var lines: [String] {
        var rows = [
            ("unit", daemon.name),
            ("file", daemon.isInstalled ? daemon.path : "not installed; `backhaul service install` installs it"),
            ("enabled", daemon.isEnabled ? "yes" : "no"),
        ]
        switch manager {
        case .version(let number):
            rows += [("manager", "systemd \(number)"), ("state", daemon.state?.rawValue ?? "inactive")]
        case .none(let reason): rows += [("manager", reason)]
        }
        if lingering != .absent { rows.append(("at boot", lingeringSentence)) }
        if let crontabLine { rows.append(("crontab", crontabLine)) }
        if let desktop { rows.append(("desktop", desktopSentence(desktop.unit))) }
        return rows.map { Text.padded($0.0, columns: 10) + Text.visible($0.1) }
    }

    var lingeringSentence: String {
        switch lingering {
        case .on: "Lingering is on: it starts at boot."
        case .off: "Lingering is off: it starts at your first login; `loginctl enable-linger` makes it start at boot."
        case .absent: "It starts when your user manager does."
        }
    }

    private func desktopSentence(_ unit: Unit) -> String {
        guard unit.isInstalled else { return "not shown; `backhaul service install --desktop` shows transfers there" }
        return "\(unit.name), \(unit.isEnabled ? "enabled" : "not enabled"), \(unit.state?.rawValue ?? "inactive")"
    }
}
