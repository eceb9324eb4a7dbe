import Glibc
import Testing

@testable import BackhaulPlatform

/// The kernel lists the control groups of a process in /proc/PID/cgroup, in one line for each hierarchy.
@Suite struct ControlGroupTests {
    private let app = "/user.slice/user-1000.slice/user@1000.service/app.slice"

    private func group(_ listing: String) throws -> ControlGroup { try #require(ControlGroup(listing: listing)) }

    @Test("a control group of version 2 is read from a listing of one line")
    func versionTwo() throws {
        #expect(try group("0::/system.slice/photos.service\n").path == "/system.slice/photos.service")
        #expect(try group("0::/\n").path == "/")
        #expect(ControlGroup(listing: "") == nil)
        #expect(ControlGroup(listing: "nonsense\n") == nil)
    }

    @Test("if the control group of version 2 is the root group, systemd's group of version 1 is used")
    func versionOne() throws {
        let old = "4:freezer:/ice\n2:cpu,cpuacct:/\n1:name=systemd:/system.slice/a.service\n0::/\n"
        #expect(try group(old).path == "/system.slice/a.service")
        #expect(try group(old).freezerPath == "/ice")
        #expect(try group("9:name=systemd:/\n0::/a:b.scope\n").path == "/a:b.scope")
    }

    @Test("all processes of one systemd unit are stopped together, even processes in subgroups")
    func units() throws {
        let service = try group("0::\(app)/photos.service")
        #expect(service.unitName == "photos.service")
        #expect(service.isStoppedWith(try group("0::\(app)/photos.service/worker")))
        #expect(!service.isStoppedWith(try group("0::\(app)/backhauld-1.service")))
        #expect(!service.isStoppedWith(try group("0::/")))
    }

    @Test("processes of one container are stopped together; processes in the root group are stopped separately")
    func containers() throws {
        #expect(try group("0::/docker/1234").isStoppedWith(group("0::/docker/1234")))
        #expect(try !group("0::/docker/1234").isStoppedWith(group("0::/docker/5678")))
        #expect(try !group("0::/").isStoppedWith(group("0::/")))
    }

    @Test("the control group of a process is found, with the group's processes and frozen state")
    func files() throws {
        var template = Array("/tmp/backhaul-groups-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        let path = String(cString: made)
        defer { system("rm -rf '\(path)'") }
        system(
            """
            cd '\(path)' && mkdir -p proc/7 proc/8 proc/9 groups/a.service groups/freezer/ice &&
            echo 0::/a.service >proc/7/cgroup && echo 0::/b.service >proc/8/cgroup &&
            printf '1:freezer:/ice\\n0::/\\n' >proc/9/cgroup &&
            printf 'populated 1\\nfrozen 1\\n' >groups/a.service/cgroup.events &&
            printf '7\\n17\\n' >groups/a.service/cgroup.procs &&
            echo FROZEN >groups/freezer/ice/freezer.state
            """)
        let root = ControlGroup.Root(processes: path + "/proc", groups: path + "/groups")
        #expect(ControlGroup.of(processID: 7, in: root)?.unitName == "a.service")
        #expect(ControlGroup.of(processID: 6, in: root) == nil)
        #expect(ControlGroup.of(processID: 7, in: root)?.processes(in: root) == [7, 17])
        #expect(ControlGroup.of(processID: 8, in: root)?.processes(in: root) == [])
        #expect(!ControlGroup.shared(by: 7, and: 8, in: root))
        #expect(ControlGroup.shared(by: 7, and: 7, in: root))
        #expect(!ControlGroup.shared(by: 7, and: 6, in: root))
        #expect(ControlGroup.isFrozen(processID: 7, in: root))
        #expect(!ControlGroup.isFrozen(processID: 8, in: root))
        #expect(ControlGroup.isFrozen(processID: 9, in: root))
        system("printf 'populated 1\\nfrozen 0\\n' >'\(path)/groups/a.service/cgroup.events'")
        #expect(!ControlGroup.isFrozen(processID: 7, in: root))
    }

    @Test("this process has a control group that is not frozen")
    func current() {
        #expect(ControlGroup.of(processID: getpid()) != nil)
        #expect(!ControlGroup.isFrozen(processID: getpid()))
    }

    @Test("the group of version 2 is found at the end of a long listing; a truncated list of processes is not used")
    func longListing() throws {
        var template = Array("/tmp/backhaul-groups-XXXXXX".utf8CString)
        let path = String(cString: try #require(mkdtemp(&template)))
        defer { system("rm -rf '\(path)'") }
        system("mkdir -p '\(path)/proc/7' '\(path)/groups/a.service'")
        func write(_ text: String, to name: String) throws {
            let file = try #require(fopen("\(path)/\(name)", "w"))
            defer { fclose(file) }
            try #require(fputs(text, file) >= 0)
        }
        let pod = "/kubelet.slice/pod-" + String(repeating: "0123456789abcdef", count: 40)
        let old = (2...14).reversed().map { "\($0):controller\($0):\(pod)\n" }.joined()
        try write(old + "1:name=systemd:\(pod)\n0::/a.service\n", to: "proc/7/cgroup")
        let processes = (1...2_000).map { Int32(30_000 + $0) }
        try write(processes.map { "\($0)\n" }.joined(), to: "groups/a.service/cgroup.procs")
        let root = ControlGroup.Root(processes: path + "/proc", groups: path + "/groups")
        let group = try #require(ControlGroup.of(processID: 7, in: root))
        #expect(group.path == "/a.service")
        #expect(group.processes(in: root) == processes)
        // The last number of a truncated listing could be only the first part of an id. This part could be the id of
        // another process. Therefore such a listing is not used.
        try write((1...20_000).map { "\($0)\n" }.joined(), to: "groups/a.service/cgroup.procs")
        #expect(group.processes(in: root).isEmpty)
    }
}
