import CLinux
import Glibc
import TestSupport
import Testing

@testable import BackhaulPlatform

@Suite struct InotifyTests {
    /// Returns a new directory, which the caller removes.
    private static func directory() throws -> String {
        var template = Array("/var/tmp/backhaul-inotify-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private static func isReadable(_ inotify: Inotify) -> Bool {
        var item = pollfd(fd: inotify.number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) == 1
    }

    private static func change(_ directory: String) {
        mkdir(directory + "/made", 0o700)
        rmdir(directory + "/made")
    }

    @Test("the descriptor of a freed watch stays open for the next watch, which gets no reports of the earlier path")
    func reuse() async throws {
        // The test runs in a separate process, because other tests use the same descriptors.
        await #expect(processExitsWith: .success) {
            let (first, second) = (try Self.directory(), try Self.directory())
            defer {
                rmdir(first)
                rmdir(second)
            }
            var inotify: Inotify? = try Inotify("cannot watch")
            let number = try #require(inotify).number
            #expect(try #require(inotify).watch(first, for: Int32(IN_CREATE)))
            Self.change(first)
            #expect(Self.isReadable(try #require(inotify)))
            let before = Self.inotifyDescriptors()
            inotify = nil
            #expect(Self.inotifyDescriptors() == before)
            let next = try Inotify("cannot watch")
            #expect(next.number == number)
            #expect(!Self.isReadable(next))
            #expect(next.watch(second, for: Int32(IN_CREATE)))
            Self.change(first)
            #expect(!Self.isReadable(next))
            Self.change(second)
            #expect(Self.isReadable(next))
        }
    }

    @Test("the descriptors of all watches that an engine may have stay open when the watches are freed")
    func limit() async throws {
        await #expect(processExitsWith: .success) {
            let before = try Self.descriptors(withWatches: 19)
            #expect(before.count == 19)
            #expect(Self.inotifyDescriptors() == before)
            _ = try Self.descriptors(withWatches: 20)
            #expect(Self.inotifyDescriptors().count == before.count)
        }
    }

    /// Returns the open descriptors of inotify(7). Other descriptors do not count, because threads of Dispatch open and
    /// close some at any time: when they start, and each second, when they read the states of threads in /proc.
    private static func inotifyDescriptors() -> Set<Int32> {
        TestSupport.openDescriptors().filter { number in
            var target = [CChar](repeating: 0, count: 64)
            let size = max(0, readlink("/proc/self/fd/\(number)", &target, target.count))
            let bytes = target.prefix(size).map { UInt8(truncatingIfNeeded: $0) }
            return String(decoding: bytes, as: UTF8.self) == "anon_inode:inotify"
        }
    }

    /// Returns the descriptors that are open while this many watches exist.
    private static func descriptors(withWatches count: Int) throws -> Set<Int32> {
        let watches = try (0..<count).map { _ in try Inotify("cannot watch") }
        return withExtendedLifetime(watches) { inotifyDescriptors() }
    }
}
