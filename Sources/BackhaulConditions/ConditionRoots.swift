public import BackhaulPlatform

/// Where the system is read. Tests and containers put trees and buses of their own in place of the machine's.
public struct ConditionRoots: Equatable, Sendable {
    /// In place of /sys (sysfs(5)).
    public var system: String
    /// In place of /proc.
    public var processes: String
    /// Of the message bus of NetworkManager and logind; nil: the system's.
    public var busAddress: String?

    public init(system: String = "/sys", processes: String = "/proc", busAddress: String? = nil) {
        self.system = system
        self.processes = processes
        self.busAddress = busAddress
    }

    /// BACKHAUL_SYS_ROOT and BACKHAUL_PROC_ROOT; what is no absolute path is left out.
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
