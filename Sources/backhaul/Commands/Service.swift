import BackhaulUserManager
import Glibc

/// The command `service`: installs or removes the systemd service that runs a store's daemon, and shows its status.
struct Service: DescribedCommand {
    static let description = CommandDescription(
        name: "service", operands: "install | status | uninstall",
        summary: "resume transfers automatically after a reboot",
        examples: [
            "backhaul service install", "backhaul service install --desktop", "backhaul service status --json",
            "backhaul service uninstall",
        ],
        options: [
            OptionDescription(
                "desktop", nil, nil, "show transfers on the desktop at each login; with uninstall, remove only this")
        ],
        details: """
            Writes and enables a unit of the systemd user manager, which starts the store's daemon at boot or, without \
            lingering, at the first login. The daemon resumes waiting transfers and exits when nothing is left to do.

            With --desktop, a second unit runs `backhaul desktop` in each desktop session, and a desktop entry has the \
            name and the icon.

            Without systemd, `install` prints a line for the user's crontab and changes nothing.

            With --json one document: {"unit", "file", "installed", "enabled", "systemd", \
            "state", "lingering", "crontab", "desktop"}.
            """)

    private enum Action: String { case install, status, uninstall }

    private let action: Action
    private let isForDesktop: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.count == 1, let action = Action(rawValue: arguments.operands[0]) else {
            throw .usage("`service` takes one of: install, status, uninstall")
        }
        self.action = action
        isForDesktop = arguments.has("desktop")
        if isForDesktop && action == .status { throw .usage("`service status` shows the desktop's unit, too") }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let store = try Paths.resolved(context.storeDirectory())
        let file = try ServiceFile(store: store)
        // Only the desktop needs a directory for data, which a service without a home does not have.
        let desktop = isForDesktop ? try DesktopUnit(store: store) : try? DesktopUnit(store: store)
        switch action {
        case .install: return try install(file, desktop, store, context)
        case .status: return try status(file, desktop, store, context)
        case .uninstall: return try uninstall(file, desktop, context)
        }
    }

    private func install(
        _ file: ServiceFile, _ desktop: DesktopUnit?, _ store: String, _ context: Context
    ) throws(CommandError) -> ExitCode {
        let finder = DaemonFinder(path: nil)
        guard let program = finder.program else {
            throw .stopped(
                .libraryFailed,
                "the daemon backhauld is not at \(finder.paths.joined(separator: ", nor at ")); install it, or name "
                    + "its path in \(DaemonFinder.variable)")
        }
        let unit = ServiceUnit(program: program, store: store)
        if case .none(let reason) = UserManager.find() {
            if Service.hasSystemd { throw Service.unreachable(reason) }
            try printCrontab(unit, file, desktop, context)
        }
        try ServiceUnit.check(program: unit.program)
        let wasThere = file.exists
        try file.write(unit.text)
        try Service.enable(file, context) { () throws(CommandError) in if !wasThere { try file.remove() } }
        let shown = isForDesktop ? desktop : nil
        if let shown { try install(shown, context) }
        let report = ServiceReport(file, desktop, crontabLine: nil)
        if context.output.isJSON {
            try context.output.result(report.json)
        } else {
            try context.output.result(lines: [file.path] + (shown.map { [$0.file.path, $0.entry] } ?? []))
        }
        context.output.note("Installed and enabled. \(report.lingeringSentence)")
        return .done
    }

    private func install(_ desktop: DesktopUnit, _ context: Context) throws(CommandError) {
        let wasThere = desktop.file.exists
        try desktop.write()
        try Service.enable(desktop.file, context) { () throws(CommandError) in if !wasThere { try desktop.remove() } }
        // Without a desktop session, the next login starts the unit.
        let isOnDesktop = try? UserManager.connect()?.isActive(DesktopUnit.target)
        if isOnDesktop == true { try Service.manage(["restart", desktop.file.name], context) }
    }

    /// Enables the unit. If that fails, calls `undo`.
    private static func enable(
        _ file: ServiceFile, _ context: Context, undo: () throws(CommandError) -> Void
    ) throws(CommandError) {
        do throws(CommandError) {
            try manage(["daemon-reload"], context)
            try manage(["enable", file.name], context)
            file.syncLink()
        } catch {
            try undo()
            throw error
        }
    }

    /// Writes the line for a crontab to stdout, so that the user can pipe the line. On a machine without systemd,
    /// `install` does only this, and fails.
    private func printCrontab(
        _ unit: ServiceUnit, _ file: ServiceFile, _ desktop: DesktopUnit?, _ context: Context
    ) throws(CommandError) -> Never {
        let report = ServiceReport(file, desktop, crontabLine: unit.crontabLine)
        try context.output.isJSON ? context.output.result(report.json) : context.output.result(unit.crontabLine)
        throw .stopped(
            .refused,
            "there is no systemd here, so nothing is installed; add the line to your crontab with `crontab -e`")
    }

    private func status(
        _ file: ServiceFile, _ desktop: DesktopUnit?, _ store: String, _ context: Context
    ) throws(CommandError) -> ExitCode {
        let program = Service.hasSystemd ? nil : DaemonFinder(path: nil).program
        let report = ServiceReport(
            file, desktop, crontabLine: program.map { ServiceUnit(program: $0, store: store).crontabLine })
        if context.output.isJSON {
            try context.output.result(report.json)
        } else {
            try context.output.result(lines: report.lines)
        }
        return report.isInstalled ? .done : .notFound
    }

    private func uninstall(
        _ file: ServiceFile, _ desktop: DesktopUnit?, _ context: Context
    ) throws(CommandError) -> ExitCode {
        let manager = UserManager.connect()
        let isShown = desktop?.file.exists ?? false
        let wasThere = isShown || !isForDesktop && file.exists
        // No transfer depends on this unit.
        if let desktop, isShown { _ = try? manager?.stopService(desktop.file.name) }
        try desktop?.remove()
        if !isForDesktop { try file.remove() }
        if wasThere, manager != nil { try Service.manage(["daemon-reload"], context) }
        if context.output.isJSON { try context.output.result(ServiceReport(file, desktop, crontabLine: nil).json) }
        context.output.note(
            !wasThere
                ? "The service was not installed."
                : isForDesktop ? "Removed." : "Removed. A running daemon continues until nothing is left to do.")
        return .done
    }

    /// Whether this machine was booted with systemd (sd_booted(3)).
    static var hasSystemd: Bool { access("/run/systemd/system", F_OK) == 0 }

    private static func manage(_ words: [String], _ context: Context) throws(CommandError) {
        let command = ["systemctl", "--user"] + words
        if let complaint = try Subprocess.run(command, signals: context.signals) {
            throw .stopped(.tryAgainLater, "`\(command.joined(separator: " "))` failed: \(complaint)")
        }
    }

    private static func unreachable(_ reason: String) -> CommandError {
        .stopped(
            .tryAgainLater,
            "\(reason) Log in as the user (`machinectl shell USER@` from root), so that the user manager runs and "
                + "XDG_RUNTIME_DIR is set")
    }
}
