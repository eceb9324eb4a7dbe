internal import Glibc

/// A control group (cgroups(7)): the processes that a service manager stops, freezes and counts together.
public struct ControlGroup: Equatable, Sendable {
    /// The directories in which the kernel shows processes and groups. Tests make their own.
    public struct Root: Sendable {
        public var processes: String
        public var groups: String

        public init(processes: String = "/proc", groups: String = "/sys/fs/cgroup") {
            self.processes = processes
            self.groups = groups
        }
    }

    /// The path in the hierarchy that the service manager uses. In a container it begins at the container's root, which
    /// is `/`.
    public var path: String
    /// The path in the hierarchy of the old freezer controller; nil if the machine does not have that.
    var freezerPath: String?

    /// Nil when there is no such process, or no /proc.
    public static func of(processID: Int32, in root: Root = Root()) -> ControlGroup? {
        readSmallFile("\(root.processes)/\(processID)/cgroup").flatMap(ControlGroup.init(listing:))
    }

    /// Reads /proc/PID/cgroup: lines of `number:controllers:path`. Version 2 has no controllers there. Before version
    /// 2, and beside it, systemd used a named hierarchy.
    init?(listing: String) {
        var unified: String?
        var named: String?
        for line in listing.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let path = String(fields[2])
            let controllers = fields[1].split(separator: ",")
            if fields[1].isEmpty { unified = path }
            if controllers.contains("name=systemd") { named = path }
            if controllers.contains("freezer") { freezerPath = path }
        }
        // Beside version 1, version 2 may be present and unused. Then all processes are in its root.
        guard let path = [unified, named].compactMap({ $0 }).first(where: { $0 != "/" }) ?? unified ?? named else {
            return nil
        }
        self.path = path
    }

    /// The path of the service or scope that contains the group. When it is stopped, all groups below it are stopped.
    /// Nil for a process that no service manager has placed.
    public var unitPath: String? {
        let components = path.split(separator: "/")
        let last = components.lastIndex { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
        return last.map { "/" + components[...$0].joined(separator: "/") }
    }

    /// The last part of `unitPath`, such as `app.service`.
    public var unitName: String? { unitPath?.split(separator: "/").last.map(String.init) }

    /// Whether both are stopped when the service or container of one is. They are in the same unit, or in the same
    /// group that is not the root.
    public func isStoppedWith(_ other: ControlGroup) -> Bool {
        if let unitPath { return unitPath == other.unitPath }
        return path == other.path && path != "/"
    }

    /// Whether the processes are in one service or container, so that a service manager which stops one stops the
    /// other. False when one of them is gone.
    public static func shared(by one: Int32, and other: Int32, in root: Root = Root()) -> Bool {
        guard let first = of(processID: one, in: root) else { return false }
        return of(processID: other, in: root).map(first.isStoppedWith) ?? false
    }

    /// The ids of the processes in the group itself, in this pid namespace. Empty if the kernel does not show them.
    public func processes(in root: Root = Root()) -> [Int32] {
        for mount in mounts(of: root) {
            guard let text = readSmallFile("\(mount)\(path)/cgroup.procs") else { continue }
            return text.split(separator: "\n").compactMap { Int32($0) }
        }
        return []
    }

    /// Where the manager's hierarchy may be mounted: alone, beside version 1, or as systemd's own part of version 1.
    private func mounts(of root: Root) -> [String] { [root.groups, root.groups + "/unified", root.groups + "/systemd"] }

    /// Whether the process is frozen, by its own group or one above it (cgroup.freeze of version 2, or the freezer of
    /// version 1).
    public static func isFrozen(processID: Int32, in root: Root = Root()) -> Bool {
        of(processID: processID, in: root)?.isFrozen(in: root) ?? false
    }

    func isFrozen(in root: Root) -> Bool {
        if let freezerPath, let state = readSmallFile("\(root.groups)/freezer\(freezerPath)/freezer.state") {
            if state.hasPrefix("FROZEN") { return true }
        }
        for mount in mounts(of: root) {
            if let events = readSmallFile("\(mount)\(path)/cgroup.events") {
                return events.split(separator: "\n").contains("frozen 1")
            }
        }
        return false
    }
}
