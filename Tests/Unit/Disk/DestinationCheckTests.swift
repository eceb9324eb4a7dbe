import BackhaulDisk
import BackhaulModel
import CLinux
import Glibc
import Testing

// The Glibc module does not include <sys/fsuid.h>.
@_silgen_name("setfsuid") private func setfsuid(_ user: uid_t) -> Int32

@Suite struct DestinationCheckTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func failure(_ path: String, _ ifExists: ExistsPolicy = .fail) -> Failure? {
        do throws(Failure) {
            _ = try DestinationCheck.check(path: path, ifExists: ifExists)
            return nil
        } catch {
            return error
        }
    }

    @Test("a destination path in a writable directory is accepted, and the result identifies the directory")
    func accepted() throws {
        let destination = try DestinationCheck.check(path: scratch.path("file"), ifExists: .fail)
        var status = stat()
        #expect(stat(scratch.path, &status) == 0)
        #expect(destination.path == scratch.path("file"))
        #expect(destination.directoryInode == UInt64(status.st_ino))
        #expect(destination.directoryDevice == UInt64(status.st_dev))
    }

    @Test(
        "a malformed destination path is refused as an invalid argument",
        arguments: [
            "", "file", "./file", "../file", "/", "/tmp/", "/tmp/.", "/tmp/..", "/tmp/a\u{0}b",
            "/tmp/" + String(repeating: "n", count: 256), "/" + String(repeating: "d/", count: 2_048) + "f",
        ])
    func malformed(path: String) {
        #expect(failure(path)?.status == .invalidArgument)
        #expect(failure(path)?.message.hasPrefix("the destination ") == true)
    }

    @Test(
        "a destination in a directory of the kernel is refused",
        arguments: ["/proc/file", "/proc/self/file", "/sys/file"])
    func kernel(path: String) {
        #expect(failure(path)?.status == .destinationUnavailable)
        #expect(failure(path)?.message.contains("where only the kernel makes files; choose another directory") == true)
    }

    @Test(
        "if the server names the file, the path of the destination directory may end with slashes",
        arguments: [
            "", "/", "//",
        ])
    func directory(_ slashes: String) throws {
        var check = DestinationCheck()
        let destination = try check.check(directory: scratch.path + slashes)
        #expect(destination.path == scratch.path + "/")
        #expect(destination.directory == scratch.path && destination.name.isEmpty)
        #expect(
            try destination.directoryInode
                == DestinationCheck.check(
                    path: scratch.path("x"), ifExists: .fail
                ).directoryInode)
        #expect(throws: Failure.self) { try check.check(directory: scratch.path("nowhere")) }
        #expect(throws: Failure.self) { try check.check(directory: "relative") }
        #expect(try check.check(directory: "/").path == "/")
    }

    @Test("a destination name of the maximum length is accepted")
    func longest() throws {
        _ = try DestinationCheck.check(path: scratch.path(String(repeating: "n", count: 255)), ifExists: .fail)
    }

    @Test("a destination in a missing directory, or below a file, is unavailable")
    func noDirectory() throws {
        #expect(failure(scratch.path("nowhere/file"))?.status == .destinationUnavailable)
        try write([1], to: scratch.path("plain"))
        #expect(failure(scratch.path("plain/file"))?.status == .destinationUnavailable)
        for path in ["plain/file", "plain/sub/file"] {
            #expect(failure(scratch.path(path))?.message.contains("Not a directory") == true)
        }
        #expect(failure(scratch.path("nowhere/file"))?.message.contains(scratch.path("nowhere")) == true)
    }

    @Test("an existing destination file is accepted only if the request may replace it")
    func exists() throws {
        try write([1], to: scratch.path("file"))
        #expect(failure(scratch.path("file"))?.status == .destinationExists)
        #expect(try DestinationCheck.check(path: scratch.path("file"), ifExists: .replace).fileExists)
        #expect(try !DestinationCheck.check(path: scratch.path("other"), ifExists: .replace).fileExists)
        #expect(symlink("nowhere", scratch.path("link")) == 0)
        #expect(failure(scratch.path("link"))?.status == .destinationExists)
    }

    @Test(
        "a destination path that is a directory is refused with every policy for existing files",
        arguments: ExistsPolicy.allCases)
    func directory(policy: ExistsPolicy) throws {
        #expect(mkdir(scratch.path("directory"), 0o700) == 0)
        #expect(failure(scratch.path("directory"), policy)?.status == .destinationUnavailable)
    }

    @Test("a `DestinationCheck` that has already checked a directory still finds existing files in this directory")
    func many() throws {
        var check = DestinationCheck()
        try write([1], to: scratch.path("there"))
        let first = try check.check(path: scratch.path("absent"), ifExists: .fail)
        #expect(throws: Failure.self) { try check.check(path: scratch.path("there"), ifExists: .fail) }
        #expect(try check.check(path: scratch.path("other"), ifExists: .fail).directoryInode == first.directoryInode)
    }

    @Test("a destination directory without write permission is unavailable")
    func notWritable() throws {
        #expect(chmod(scratch.path, 0o500) == 0)
        let failure = asOrdinaryUser(owning: scratch.path) { self.failure(scratch.path("file")) }
        #expect(failure?.status == .destinationUnavailable)
        #expect(failure?.detail == Int64(EACCES))
        #expect(failure?.message.contains("permissions") == true)
    }

    /// If this process is root, runs the body with the rights of an ordinary user. On Linux, setfsuid(2) changes only
    /// the rights of the calling thread.
    private func asOrdinaryUser<Value>(owning path: String, _ body: () -> Value) -> Value {
        guard geteuid() == 0 else { return body() }
        chown(path, 12_345, 12_345)
        _ = setfsuid(12_345)
        defer { _ = setfsuid(0) }
        return body()
    }
}
