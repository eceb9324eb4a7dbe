import BackhaulPlatform
import BackhaulUserManager
import Glibc

/// The files with which a desktop starts and names `backhaul desktop`: a unit of the user manager, and a desktop entry.
struct DesktopUnit {
    /// The target that runs while the user has a desktop session (systemd.special(7)).
    static let target = "graphical-session.target"

    let file: ServiceFile
    /// The desktop entry. Docks and notifications find the name and the icon there, and a user can pin it.
    let entry: String
    private let store: String

    /// - Parameter store: The store's path without symbolic links.
    init(store: String) throws(CommandError) {
        self.store = store
        file = try ServiceFile(desktopOf: store)
        guard let data = Paths.dataDirectory else {
            throw .usage("neither XDG_DATA_HOME nor HOME is an absolute path; set one of them")
        }
        entry = Paths.join(data, "applications/\(DesktopService.entry(store: store)).desktop")
    }

    /// Writes both files.
    func write() throws(CommandError) {
        guard let program = Environment.ownProgram else {
            throw .stopped(.storeUnusable, "the path of this program is not known; mount /proc")
        }
        try ServiceUnit.check(program: program)
        try ServiceFile.write(entryText(program), entry)
        try file.write(unitText(program))
    }

    func remove() throws(CommandError) {
        try ServiceFile.remove(entry)
        try file.remove()
    }

    private func unitText(_ program: String) -> String {
        """
        # Written by `backhaul service install --desktop`; `backhaul service uninstall` removes it.
        # It shows the transfers of the store on the desktop, as long as the desktop session lasts.
        [Unit]
        Description=\(ServiceUnit.plain("Backhaul, transfers of \(store) on the desktop"))
        PartOf=\(DesktopUnit.target)
        After=\(DesktopUnit.target)
        StartLimitIntervalSec=5min
        StartLimitBurst=5

        [Service]
        Type=exec
        ExecStart=\(ServiceUnit.quoted(program)) desktop --store \(ServiceUnit.argument(store))
        Restart=on-failure
        RestartPreventExitStatus=2
        RestartSec=5s
        TimeoutStopSec=10s
        \(DaemonSandbox.unitLines.joined(separator: "\n"))

        [Install]
        WantedBy=\(DesktopUnit.target)

        """
    }

    /// The desktop entry (Desktop Entry Specification). It opens the live screen in a terminal.
    private func entryText(_ program: String) -> String {
        """
        # Written by `backhaul service install --desktop`; `backhaul service uninstall` removes it.
        [Desktop Entry]
        Type=Application
        Name=\(DesktopService.name)
        Comment=Downloads and uploads in the background
        Icon=\(DesktopService.icon)
        Exec=\(DesktopUnit.argument(program)) watch --store \(DesktopUnit.argument(store))
        Terminal=true
        Categories=Network;FileTransfer;
        X-GNOME-UsesNotifications=true

        """
    }

    /// An argument of Exec=, in quotes (Desktop Entry Specification, "The Exec key"). The value of a key is a string
    /// with escapes of its own, so a backslash is doubled twice.
    static func argument(_ word: String) -> String {
        var result = ""
        // A character of a path may have combining marks, so scalars are compared.
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\\": result += #"\\\\"#
            case "\"", "`", "$": result += #"\\"# + String(scalar)
            case "%": result += "%%"
            case "\n": result += #"\n"#
            case "\t": result += #"\t"#
            case "\r": result += #"\r"#
            default: result.unicodeScalars.append(scalar)
            }
        }
        return "\"" + result + "\""
    }
}
