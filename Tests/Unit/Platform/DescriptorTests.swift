import Glibc
import Testing

@testable import BackhaulPlatform

/// A descriptor object is *ours* while its number is open and still belongs to the library. It is not ours any more
/// after the program that embeds the library has closed the number.
@Suite(.serialized) struct DescriptorTests {
    private func openRoot() throws -> Int32 {
        let number = open("/", O_RDONLY | O_CLOEXEC)
        try #require(number >= 0)
        return number
    }

    /// Returns a high descriptor number. The files that other tests open get lower numbers.
    private func highNumber(_ fromTheEnd: Int32) throws -> Int32 {
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        return Int32(min(limit.rlim_cur, 100_000)) - fromTheEnd
    }

    private func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }

    @Test("a descriptor is closed when its last reference is released")
    func closed() throws {
        let number = try highNumber(2)
        try #require(dup2(try openRoot(), number) == number)
        var descriptor: Descriptor? = Descriptor(owning: number)
        #expect(descriptor?.isOurs == true)
        descriptor = nil
        #expect(!isOpen(number))
    }

    @Test("a descriptor is not ours after the embedding program has closed or reopened the descriptor's number")
    func closedByHost() throws {
        let number = try highNumber(3)
        try #require(dup2(try openRoot(), number) == number)
        var descriptor: Descriptor? = Descriptor(owning: number)
        close(number)
        #expect(descriptor?.isOurs == false)
        let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
        try #require(dup2(other, number) == number)
        #expect(descriptor?.isOurs == false)
        descriptor = nil
        #expect(isOpen(number))
        close(number)
        close(other)
    }

    @Test("after `abandon`, a descriptor is not closed when its last reference is released")
    func abandoned() throws {
        let number = try highNumber(5)
        try #require(dup2(try openRoot(), number) == number)
        var descriptor: Descriptor? = Descriptor(owning: number)
        descriptor?.abandon()
        descriptor = nil
        #expect(isOpen(number))
        close(number)
    }

    @Test("a descriptor whose number is not open is never ours")
    func neverOpen() {
        let descriptor = Descriptor(owning: 999_999)
        #expect(!descriptor.isOurs)
    }

    @Test("descriptors that several threads open at the same time are all ours")
    func concurrent() throws {
        let failures = Lock(0)
        let threads = try (0..<4).map { index in
            try Thread(name: "opener\(index)") {
                for _ in 0..<2_000 {
                    let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    let descriptor = Descriptor(owning: number)
                    if !descriptor.isOurs { failures.change { $0 += 1 } }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.withLock { $0 } == 0)
    }
}
