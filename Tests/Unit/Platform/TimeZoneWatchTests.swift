@testable import BackhaulPlatform
import Glibc
import Testing

/// The time zone of the system is the target of a symbolic link, /etc/localtime. A `TimeZoneWatch` reports changes of
/// this link. The tests use a link in a directory of their own.
@Suite("Changes of the time zone")
final class TimeZoneWatchTests {
    private let directory: String
    private let watch: TimeZoneWatch

    init() throws {
        var template = Array("/tmp/backhaul-zone-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        symlink("/usr/share/zoneinfo/UTC", directory + "/localtime")
        watch = try TimeZoneWatch(directory: directory, name: "localtime")
    }

    deinit {
        for name in ["localtime", "new", "hosts"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    @Test("each removal, creation and replacement of the symbolic link to the time zone is reported")
    func links() {
        for _ in 0..<3 {
            unlink(directory + "/localtime")
            #expect(watch.takeChanges() == .zone)
            symlink("/usr/share/zoneinfo/Europe/Berlin", directory + "/localtime")
            #expect(watch.takeChanges() == .zone)
            symlink("/usr/share/zoneinfo/UTC", directory + "/new")
            #expect(watch.takeChanges() == .none)
            rename(directory + "/new", directory + "/localtime")
            #expect(watch.takeChanges() == .zone)
        }
    }

    @Test("changes of other files in the directory of the symbolic link are not reported")
    func others() {
        close(open(directory + "/hosts", O_WRONLY | O_CREAT, 0o600))
        unlink(directory + "/hosts")
        #expect(watch.takeChanges() == .none)
    }

    @Test("if the link's directory is removed, the watch ends; a missing directory cannot be watched")
    func end() {
        unlink(directory + "/localtime")
        rmdir(directory)
        #expect(watch.takeChanges() == .end)
        #expect(throws: SystemError.self) { try TimeZoneWatch(directory: self.directory, name: "localtime") }
    }
}
