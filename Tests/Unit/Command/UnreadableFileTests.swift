import Glibc
import Testing

@testable import backhaul

// The Glibc module does not include <sys/fsuid.h>.
@_silgen_name("setfsuid") private func setfsuid(_ user: uid_t) -> Int32

/// Files about which the system reports an error. They are not missing.
@Suite("Files that cannot be checked")
struct UnreadableFileTests {
    private let directory: String

    init() throws {
        var template = Array("/tmp/backhaul-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch CommandError.usage(let message), CommandError.stopped(_, let message) {
            return message
        } catch {
            return "\(error)"
        }
    }

    @Test("a file in a directory that the user must not search is not missing; a file below a file is missing")
    func downloadedFile() throws {
        let path = directory + "/file"
        #expect(try !Paths.isRegularFile(path, size: 0))
        close(open(path, O_WRONLY | O_CREAT, 0o600))
        #expect(try Paths.isRegularFile(path, size: 0))
        #expect(try !Paths.isRegularFile(path, size: 1))
        #expect(try !Paths.isRegularFile(path + "/below", size: 0))
        // A directory without rights stops every user except root, whose rights only setfsuid(2) takes away.
        chmod(directory, 0)
        _ = setfsuid(12_345)
        let problem = message { _ = try Paths.isRegularFile(path, size: 0) }
        _ = setfsuid(geteuid())
        chmod(directory, 0o700)
        #expect(problem?.contains(path) == true && problem?.contains("Permission denied") == true)
        unlink(path)
        rmdir(directory)
    }

    @Test("a configuration file that cannot be read is an error, and a missing one is not")
    func configurationFile() throws {
        unsetenv("BACKHAUL_CONFIG")
        setenv("XDG_CONFIG_HOME", directory, 1)
        defer { unsetenv("XDG_CONFIG_HOME") }
        #expect(try ConfigurationFile.ofUser() == nil)
        let folder = directory + "/backhaul"
        close(open(folder, O_WRONLY | O_CREAT, 0o600))
        #expect(try ConfigurationFile.ofUser() == nil)
        unlink(folder)
        mkdir(folder, 0o700)
        // open(2) of a link to itself fails with ELOOP.
        #expect(symlink("config", folder + "/config") == 0)
        let problem = message { _ = try ConfigurationFile.ofUser() }
        #expect(problem?.contains(folder + "/config") == true && problem?.contains("--no-config") == true)
        unlink(folder + "/config")
        rmdir(folder)
        rmdir(directory)
    }
}
