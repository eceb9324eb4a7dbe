import Glibc
import Testing

@testable import BackhaulPlatform

@Suite(.serialized) struct DescriptorTests {
    /// Returns the root directory's descriptor with a high number. The files that other tests open get lower numbers.
    private func openRoot(_ fromTheEnd: Int32) throws -> Int32 {
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let number = Int32(min(limit.rlim_cur, 100_000)) - fromTheEnd
        let root = open("/", O_RDONLY | O_CLOEXEC)
        defer { close(root) }
        try #require(dup2(root, number) == number)
        return number
    }

    private func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }

    @Test("a descriptor is closed when its last reference is released")
    func released() throws {
        let number = try openRoot(2)
        var descriptor: Descriptor? = Descriptor(owning: number)
        #expect(isOpen(number) && descriptor != nil)
        descriptor = nil
        #expect(!isOpen(number))
    }

    @Test("a closed descriptor is not closed again when its last reference is released")
    func closed() throws {
        let number = try openRoot(3)
        var descriptor: Descriptor? = Descriptor(owning: number)
        descriptor?.close()
        #expect(!isOpen(number))
        #expect(try openRoot(3) == number)
        descriptor?.close()
        descriptor = nil
        #expect(isOpen(number))
        close(number)
    }
}
