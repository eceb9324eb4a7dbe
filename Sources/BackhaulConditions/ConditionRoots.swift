public import BackhaulPlatform

/// The places of the system's files and bus, from which conditions are read. Tests and containers set their own paths
/// and bus in place of those of the machine.
public struct ConditionRoots: Equatable, Sendable {
    /// The directory that is read as /sys (sysfs(5)).
    public var system: String
    /// The directory that is read as /proc.
    public var processes: String
    /// The address of the message bus with NetworkManager and logind; nil for the system's bus.
    public var busAddress: String?

    public init(system: String = "/sys", processes: String = "/proc", busAddress: String? = nil) {
        self.system = system
        self.processes = processes
        self.busAddress = busAddress
    }

    /// The roots from BACKHAUL_SYS_ROOT and BACKHAUL_PROC_ROOT. A value that is no absolute path is ignored.
    public static func fromEnvironment(
        _ variable: (String) -> String? = Environment.variable
    ) -> ConditionRoots {
        func path(_ name: String) -> String? {
            guard let path = variable(name), path.hasPrefix("/") else { return nil }
            return path
        }
        return ConditionRoots(
            system: path("BACKHAUL_SYS_ROOT") ?? "/sys", processes: path("BACKHAUL_PROC_ROOT") ?? "/proc")
    }
}
