import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulDisk

/// The permissions, owners and attributes of new files, and of files that replace others.
@Suite struct FileAttributesTests {
    private static let accessList = "system.posix_acl_access"

    let scratch: Scratch
    let threads: DiskThreads
    let files = FileSystem()

    init() throws {
        scratch = try Scratch()
        threads = try DiskThreads(count: 1)
    }

    /// An ACL with the given rights of the owner, user 12345, the group, the mask and others.
    private func list(_ owner: UInt8, _ user: UInt8, _ group: UInt8, _ mask: UInt8, _ other: UInt8) -> [UInt8] {
        let nobody: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        let someone: [UInt8] = [0x39, 0x30, 0, 0]
        return [2, 0, 0, 0, 1, 0, owner, 0] + nobody + [2, 0, user, 0] + someone + [4, 0, group, 0] + nobody
            + [16, 0, mask, 0] + nobody + [32, 0, other, 0] + nobody
    }

    private func set(_ attribute: String, of name: String, _ value: [UInt8]) throws {
        let flags = name == "." ? O_RDONLY | O_DIRECTORY : O_RDONLY
        let file = open(scratch.path(name), flags)
        try #require(file >= 0)
        defer { close(file) }
        try files.setAttribute(attribute, of: file, value)
    }

    private func attribute(_ attribute: String, of name: String) throws -> [UInt8]? {
        let file = try files.openForReading(scratch.path(name))
        defer { file.close() }
        return try? files.attribute(attribute, of: file.number)
    }

    private func download(_ location: PartLocation, inSteps: Bool = false) async throws {
        let part = threads.partFile(location)
        if inSteps { try await part.append([7]) }
        try await part.place(part.seal([1]))
    }

    // MARK: New files

    @Test("a new file gets the permissions that the default ACL gives to the files of other programs")
    func defaultList() async throws {
        let cases: [(list: [UInt8], mode: FileMode, permissions: UInt32)] = [
            (list(7, 7, 7, 7, 0), .default(umask: 0o022), 0o660),
            (list(7, 7, 5, 5, 5), .default(umask: 0o077), 0o644),
            (list(7, 7, 7, 7, 0), 0o604, 0o604),
        ]
        for (number, row) in cases.enumerated() {
            try set("system.posix_acl_default", of: ".", row.list)
            for inSteps in [false, true] {
                let name = "file\(number)\(inSteps)"
                try await download(scratch.location(name, mode: row.mode), inSteps: inSteps)
                #expect(permissions(scratch.path(name)) == row.permissions, "\(name)")
            }
        }
    }

    @Test("without a default ACL, a new file gets 0666 without the bits of the host's umask")
    func umask() async throws {
        for replace in [false, true] {
            let name = "file\(replace)"
            try await download(scratch.location(name, mode: .default(umask: 0o027), replace: replace))
            #expect(permissions(scratch.path(name)) == 0o640)
        }
    }

    @Test("an extended attribute that is no complete ACL gives no permissions")
    func malformedList() {
        #expect(AccessList.permissionBits(list(7, 7, 5, 1, 4)) == 0o714)
        let whole = list(7, 7, 7, 7, 7)
        let others: [[UInt8]] = [[], [2, 0, 0, 0], [1, 0, 0, 0] + whole.dropFirst(4), whole.dropLast()]
        for bytes in others { #expect(AccessList.permissionBits(bytes) == nil) }
    }

    // MARK: Replaced files

    @Test("a replaced file keeps its mode", arguments: [0o600, 0o755, 0o444, 0o000, 0o666] as [mode_t])
    func mode(_ mode: mode_t) async throws {
        try write([9], to: scratch.path("file"))
        chmod(scratch.path("file"), mode)
        let location = try scratch.location("file", mode: .default(umask: 0o022), replace: true)
        let part = threads.partFile(location)
        let intent = try await part.seal([1])
        #expect(permissions(scratch.partPath(location)) == 0o600)
        try await part.place(intent)
        #expect(permissions(scratch.path("file")) == UInt32(mode))
        #expect(contents(scratch.path("file")) == [1] || mode & 0o400 == 0)
    }

    @Test("a replaced program loses the bits that give its rights to other users")
    func setUser() async throws {
        try write([9], to: scratch.path("file"))
        chmod(scratch.path("file"), 0o4755)
        try await download(scratch.location("file", mode: .default(umask: 0o022), replace: true))
        #expect(permissions(scratch.path("file")) == 0o755)
    }

    @Test("a mode in the request has precedence over the mode and the ACL of the replaced file")
    func requestedMode() async throws {
        try write([9], to: scratch.path("file"))
        try set(Self.accessList, of: "file", list(6, 6, 4, 6, 0))
        try await download(scratch.location("file", mode: 0o640, replace: true))
        #expect(permissions(scratch.path("file")) == 0o640)
        #expect(try attribute(Self.accessList, of: "file") == nil)
    }

    @Test("a replaced file keeps its ACL and its extended attributes")
    func attributes() async throws {
        try write([9], to: scratch.path("file"))
        try set(Self.accessList, of: "file", list(6, 6, 4, 6, 0))
        try set("user.origin", of: "file", [1, 2])
        try await download(scratch.location("file", mode: .default(umask: 0o022), replace: true))
        #expect(try attribute(Self.accessList, of: "file") == list(6, 6, 4, 6, 0))
        #expect(try attribute("user.origin", of: "file") == [1, 2])
        #expect(permissions(scratch.path("file")) == 0o660)
    }

    @Test("a file in the place of a link to a file has the mode of a new file")
    func link() async throws {
        try write([9], to: scratch.path("target"))
        chmod(scratch.path("target"), 0o600)
        #expect(symlink("target", scratch.path("file")) == 0)
        try await download(scratch.location("file", mode: .default(umask: 0o022), replace: true))
        #expect(permissions(scratch.path("file")) == 0o644)
        #expect(contents(scratch.path("target")) == [9])
    }

    #if DEBUG
    private func failingFiles() -> (FileSystem, FaultPlan) {
        var failing = FileSystem()
        let faults = FaultPlan()
        failing.faults = faults
        return (failing, faults)
    }

    @Test("if the group or the ACL of a replaced file cannot be kept, no other group gets its rights")
    func failedAttributes() throws {
        for failures in [2, 1] {
            try write([9], to: scratch.path("old"))
            try write([1], to: scratch.path("new"))
            try set(Self.accessList, of: "old", list(6, 6, 6, 6, 4))
            let (failing, faults) = failingFiles()
            for _ in 0..<failures { faults.fail(.changeMode, with: EPERM) }
            let old = try #require(try files.status(of: scratch.path("old")))
            let new = try files.openForReading(scratch.path("new"))
            var status = try files.status(new.number)
            if failures == 2 { status.group = old.group + 1 }
            try failing.copyAttributes(
                of: old, named: scratch.path("old"), in: AT_FDCWD, to: new, status, .default(umask: 0))
            #expect(permissions(scratch.path("new")) == 0o644)
            #expect(try attribute(Self.accessList, of: "new") == nil)
        }
    }

    @Test("a part file whose mode a crash left without the right to open it is continued and placed")
    func unopenable() async throws {
        let (failing, faults) = failingFiles()
        let threads = try DiskThreads(count: 1, files: failing)
        let location = try scratch.location("file", mode: .default(umask: 0o022), replace: true)
        try write([9], to: scratch.path("file"))
        chmod(scratch.path("file"), 0)
        let part = threads.partFile(location)
        try await part.append([1])
        try await part.sync()
        part.close()
        chmod(scratch.partPath(location), 0)
        faults.fail(.open, with: EACCES)
        #expect(try await part.openResuming(trusting: .synced(1)) == 1)
        let intent = try await part.seal([2])
        chmod(scratch.partPath(location), 0)
        faults.fail(.open, with: EACCES)
        try await part.place(intent)
        #expect(permissions(scratch.path("file")) == 0)
        #expect(scratch.names() == ["file"])
    }

    @Test("a kept file whose rename has failed keeps its mode in the store, and can be claimed again")
    func failedClaim() async throws {
        let (failing, faults) = failingFiles()
        let threads = try DiskThreads(count: 1, files: failing)
        try write([1], to: scratch.path("kept"))
        chmod(scratch.path("kept"), 0o604)
        try write([9], to: scratch.path("file"))
        chmod(scratch.path("file"), 0o040)
        let target = try scratch.location("file", mode: .default(umask: 0o022), replace: true)
        let claim = { [scratch] in
            try await result { then in
                threads.moveKept(
                    from: scratch.path("kept"), to: target, intent: nil, record: { $1(.success(())) }, then: then)
            }.get()
        }
        faults.fail(.rename, with: EBUSY)
        #expect(await status { try await claim() } == .destinationUnavailable)
        #expect(permissions(scratch.path("kept")) == 0o604)
        try await claim()
        #expect(permissions(scratch.path("file")) == 0o040)
    }
    #endif

    // MARK: Special files

    @Test("special files, and links to them, are never replaced, even if they appear after the enqueue")
    func special() async throws {
        let make: [(String, (String) -> Int32)] = [
            ("a pipe", { mkfifo($0, 0o600) }),
            ("a link to a directory", { symlink("/tmp", $0) }),
            ("a link to a device", { symlink("/dev/null", $0) }),
            ("a link to a descriptor", { symlink("/proc/self/fd/1", $0) }),
            ("a link to a link in /dev", { symlink("/dev/stdout", $0) }),
            ("a link to nothing in /dev", { symlink("/dev/backhaul-no-such-device", $0) }),
        ]
        let location = try scratch.location("file", replace: true)
        let path = scratch.path("file")
        for (what, make) in make {
            let part = threads.partFile(location)
            let intent = try await part.seal([1])
            #expect(make(path) == 0)
            #expect(await status { try await part.place(intent) } == .destinationUnavailable, "\(what)")
            #expect(
                await status { _ = try scratch.location("file", replace: true) } == .destinationUnavailable, "\(what)")
            #expect(unlink(path) == 0)
            try await part.discard()
        }
    }

    @Test("a link to a plain file, to nothing or to a place that cannot be examined may be replaced")
    func otherLinks() async throws {
        try write([9], to: scratch.path("plain"))
        for target in ["plain", "nowhere", "/dev/shm/nowhere", "plain/below/a/file"] {
            #expect(symlink(target, scratch.path("file")) == 0)
            try await download(scratch.location("file", replace: true))
            #expect(contents(scratch.path("file")) == [1], "\(target)")
            #expect(unlink(scratch.path("file")) == 0)
        }
    }
}
