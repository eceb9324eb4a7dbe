internal import BackhaulPlatform

/// The unit under which the user manager runs the daemon of a store. One name, whether a host or a unit file started
/// it, so that there are never two.
public enum DaemonService {
    /// `backhauld-<hash>.service`.
    /// - Parameter store: The store's directory: absolute, without symbolic links, `.` and `..`, so that all who mean
    ///   the same store mean the same unit.
    public static func name(store: String) -> String {
        let digits = String(hash(store), radix: 16)
        return "backhauld-" + String(repeating: "0", count: 16 - digits.count) + digits + ".service"
    }

    /// Where a process runs.
    public struct Place: Equatable, Sendable {
        /// The service or scope, such as `backhauld-….service` or `session-2.scope`: the process is stopped with it.
        public var unit: String
        /// Whether nothing else runs there.
        public var isAlone: Bool
    }

    /// Nil where no service manager has placed the process.
    public static func place(ofProcess processID: Int32) -> Place? {
        guard let group = ControlGroup.of(processID: processID), let unit = group.unitName else { return nil }
        return Place(unit: unit, isAlone: group.path == group.unitPath && group.processes() == [processID])
    }

    /// FNV-1a (https://datatracker.ietf.org/doc/html/draft-eastlake-fnv), by hand: Swift's own hash differs from run to
    /// run, and nobody is to be kept from finding a collision with a store of his own.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
