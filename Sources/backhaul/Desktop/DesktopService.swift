import BackhaulBus
import BackhaulUserManager

/// Names on the session bus.
enum DesktopService {
    /// The name and the icon that a desktop shows. The icon is one of the theme of the desktop.
    static let name = "Backhaul"
    static let icon = "folder-download"
    static let notifications = "org.freedesktop.Notifications"
    static let fileManager = "org.freedesktop.FileManager1"
    static let jobs = "org.kde.JobViewServer"
    static let launcher = "com.canonical.Unity.LauncherEntry"

    /// The name of the desktop entry of a store, without its ending.
    /// - Parameter store: The store's path without symbolic links.
    static func entry(store: String) -> String { "backhaul-" + DaemonService.digits(store: store) }
}

extension BusMethod {
    static func notifications(_ member: String) -> BusMethod {
        BusMethod(
            destination: DesktopService.notifications, path: "/org/freedesktop/Notifications",
            interface: DesktopService.notifications, member: member)
    }
}
