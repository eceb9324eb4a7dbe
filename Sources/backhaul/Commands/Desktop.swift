import BackhaulUserManager
import Glibc

/// The command `desktop`: shows the transfers of a store on the desktop.
struct Desktop: DescribedCommand {
    static let description = CommandDescription(
        name: "desktop", operands: "", summary: "show transfers on the desktop: notifications and progress",
        examples: ["backhaul desktop", "backhaul service install --desktop"],
        details: """
            Runs until the desktop session ends. A notification reports how the transfers of a session have ended, or \
            that a credential is needed. KDE shows the progress in its list of notifications, where you can suspend, \
            resume and cancel the transfers of a session. Docks that know Unity's LauncherEntry show the progress on \
            an icon.

            The command reads the store only when it has changed, and starts no daemon, except to resume transfers. \
            `backhaul service install --desktop` starts it at each login.
            """, storeUse: .makes, listing: .sessions)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            throw .usage("`desktop` takes no arguments; `backhaul desktop --session NAME` shows one session")
        }
        if arguments.has("embedded") {
            throw .usage("`desktop` shows what other processes transfer, and transfers nothing; omit --embedded")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let given = try context.storeDirectory()
        // The library makes the directory in the same way.
        guard mkdir(given, 0o700) == 0 || Paths.isDirectory(given) else {
            throw .stopped(.storeUnusable, "the store \(given) cannot be made: \(reasonOfLastError())")
        }
        let store = try Paths.resolved(given)
        try DesktopObserver(context, store: store, desktopEntry: DesktopService.entry(store: store)).run()
        return .done
    }
}
