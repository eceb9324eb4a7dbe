internal import Glibc

/// A control group (cgroups(7)): the processes that a service manager stops, freezes and counts together.
public struct ControlGroup: Equatable, Sendable {
    /// The directories in which the kernel shows processes and groups. Tests use other directories.
    public struct Root: Sendable {
        public var processes: String
        public var groups: String

        public init(processes: String = "/proc", groups: String = "/sys/fs/cgroup") {
            self.processes = processes
            self.groups = groups
        }
    }

    /// The path in the hierarchy that the service manager uses. In a container, the path begins at the container's
    /// root, which is `/`.
    public var path: String
    /// The path in the hierarchy of the freezer controller of version 1; nil if the machine does not have that
    /// controller.
    var freezerPath: String?

    /// Returns the group of a process; nil if the process does not exist or /proc is missing.
    public static func of(processID: Int32, in root: Root = Root()) -> ControlGroup? {
        readSmallFile("\(root.processes)/\(processID)/cgroup").flatMap(ControlGroup.init(listing:))
    }

    /// Reads /proc/PID/cgroup, whose lines have the form `number:controllers:path`. The line of version 2 has no
    /// controllers. If systemd does not use version 2, systemd has a named hierarchy of version 1, `name=systemd`.
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
        // If systemd uses version 1, version 2 may be mounted without being used. Then all processes are in the root of
        // version 2.
        guard let path = [unified, named].compactMap({ $0 }).first(where: { $0 != "/" }) ?? unified ?? named else {
            return nil
        }
        self.path = path
    }

    /// The path of the service or scope that contains the group. When this unit is stopped, all groups below it are
    /// stopped, too. Nil if the group is in no service or scope.
    public var unitPath: String? {
        let components = path.split(separator: "/")
        let last = components.lastIndex { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
        return last.map { "/" + components[...$0].joined(separator: "/") }
    }

    /// The last part of `unitPath`, such as `app.service`.
    public var unitName: String? { unitPath?.split(separator: "/").last.map(String.init) }

    /// Whether a stop of this group's service or container stops the other group, too. The result is true if both
    /// groups are in the same unit. If this group is in no unit, the result is true only if both are the same group,
    /// and the group is not the root.
    public func isStoppedWith(_ other: ControlGroup) -> Bool {
        if let unitPath { return unitPath == other.unitPath }
        return path == other.path && path != "/"
    }

    /// Whether both processes are in one service or container, so that a service manager stops them together. False if
    /// one of them has ended.
    public static func shared(by one: Int32, and other: Int32, in root: Root = Root()) -> Bool {
        guard let first = of(processID: one, in: root) else { return false }
        return of(processID: other, in: root).map(first.isStoppedWith) ?? false
    }

    /// The ids of the processes that are directly in the group. The ids are those of this pid namespace. The list is
    /// empty if the kernel does not show the processes.
    public func processes(in root: Root = Root()) -> [Int32] {
        for mount in mounts(of: root) {
            guard let text = readSmallFile("\(mount)\(path)/cgroup.procs") else { continue }
            return text.split(separator: "\n").compactMap { Int32($0) }
        }
        return []
    }

    /// Where the hierarchy of the service manager may be mounted: alone, beside version 1, or as systemd's named
    /// hierarchy of version 1.
    private func mounts(of root: Root) -> [String] {
        [root.groups, root.groups + "/unified", root.groups + "/systemd"]
    }

    /// Whether the process is frozen, because its group or a group above its group is frozen (cgroup.freeze of version
    /// 2, or the freezer of version 1).
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
