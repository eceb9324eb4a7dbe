internal import BackhaulPlatform

/// The unit under which the user manager runs the daemon of a store. A program that embeds the library (a *host*)
/// starts the daemon in a unit of this name. A unit file for the daemon has the same name. The manager runs only one
/// unit of a name, so a store never has two daemons.
public enum DaemonService {
    /// The name `backhauld-<hash>.service`.
    /// - store: the store's directory as an absolute path without symbolic links, `.` and `..`, so that each store has
    ///   one unit.
    public static func name(store: String) -> String { "backhauld-" + digits(store: store) + ".service" }

    /// The hash in the name of the unit, as 16 hexadecimal digits.
    public static func digits(store: String) -> String {
        let digits = String(hash(store), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The unit in which a process runs.
    public struct Place: Equatable, Sendable {
        /// The service or scope, such as `backhauld-….service` or `session-2.scope`. When the unit is stopped, the
        /// process is stopped.
        public var unit: String
        /// Whether no other process runs in the unit.
        public var isAlone: Bool
    }

    /// The unit of the process; nil if no service manager has placed it in a unit.
    public static func place(ofProcess processID: Int32) -> Place? {
        guard let group = ControlGroup.of(processID: processID), let unit = group.unitName else { return nil }
        return Place(unit: unit, isAlone: group.path == group.unitPath && group.processes() == [processID])
    }

    /// The hash FNV-1a (https://datatracker.ietf.org/doc/html/draft-eastlake-fnv). Swift's own hash differs between
    /// runs. A user can cause collisions only among the user's own stores, so no stronger hash is needed.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
