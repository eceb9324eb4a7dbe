import BackhaulUserManager

/// The status of the systemd service that runs a store's daemon.
struct ServiceReport {
    let unit: String
    let path: String
    let isInstalled: Bool
    let isEnabled: Bool
    /// The version of systemd, or the reason why there is no user manager.
    let manager: Manager
    let state: UnitState?
    let lingering: Lingering
    /// The line for a crontab that starts the daemon at boot. Nil on a machine with systemd, after an uninstallation,
    /// or if the program of the daemon is missing.
    let crontabLine: String?
    /// The unit that shows the transfers on the desktop. Nil if there is no directory for its desktop entry.
    let desktop: Desktop?

    struct Desktop {
        let unit: String
        let path: String
        let entry: String
        let isInstalled: Bool
        let isEnabled: Bool
        let state: UnitState?
    }

    enum Manager {
        case version(Int)
        case none(reason: String)
    }

    init(_ file: ServiceFile, _ desktop: DesktopUnit?, crontabLine: String?) {
        unit = file.name
        path = file.path
        isInstalled = file.exists
        isEnabled = file.isEnabled
        switch UserManager.find() {
        case .manager(let found):
            manager = .version(found.version)
            state = try? found.state(of: file.name)
            self.desktop = desktop.map { Desktop($0, try? found.state(of: $0.file.name)) }
        case .none(let reason):
            manager = .none(reason: reason)
            state = nil
            self.desktop = desktop.map { Desktop($0, nil) }
        }
        lingering = Lingering.current
        self.crontabLine = crontabLine
    }

    var json: JSON {
        let version: JSON =
            switch manager {
            case .version(let number): .integer(Int64(number))
            case .none: .null
            }
        return .object([
            ("unit", .string(unit)), ("file", .string(path)), ("installed", .bool(isInstalled)),
            ("enabled", .bool(isEnabled)), ("systemd", version), ("state", .optional(state?.rawValue)),
            ("lingering", lingering == .absent ? .null : .bool(lingering == .on)),
            ("crontab", .optional(crontabLine)), ("desktop", desktop?.json ?? .null),
        ])
    }

    var lines: [String] {
        var rows = [
            ("unit", unit), ("file", isInstalled ? path : "not installed; `backhaul service install` installs it"),
            ("enabled", isEnabled ? "yes" : "no"),
        ]
        switch manager {
        case .version(let number): rows += [("manager", "systemd \(number)"), ("state", state?.rawValue ?? "inactive")]
        case .none(let reason): rows += [("manager", reason)]
        }
        if lingering != .absent { rows.append(("at boot", lingeringSentence)) }
        if let crontabLine { rows.append(("crontab", crontabLine)) }
        if let desktop { rows.append(("desktop", desktop.sentence)) }
        return rows.map { Text.padded($0.0, columns: 10) + Text.visible($0.1) }
    }

    var lingeringSentence: String {
        switch lingering {
        case .on: "Lingering is on: it starts at boot."
        case .off: "Lingering is off: it starts at your first login; `loginctl enable-linger` makes it start at boot."
        case .absent: "It starts when your user manager does."
        }
    }
}

extension ServiceReport.Desktop {
    fileprivate init(_ desktop: DesktopUnit, _ state: UnitState?) {
        unit = desktop.file.name
        path = desktop.file.path
        entry = desktop.entry
        isInstalled = desktop.file.exists
        isEnabled = desktop.file.isEnabled
        self.state = state
    }

    fileprivate var json: JSON {
        .object([
            ("unit", .string(unit)), ("file", .string(path)), ("entry", .string(entry)),
            ("installed", .bool(isInstalled)), ("enabled", .bool(isEnabled)), ("state", .optional(state?.rawValue)),
        ])
    }

    fileprivate var sentence: String {
        guard isInstalled else { return "not shown; `backhaul service install --desktop` shows transfers there" }
        return "\(unit), \(isEnabled ? "enabled" : "not enabled"), \(state?.rawValue ?? "inactive")"
    }
}
