import BackhaulModel
import BackhaulPlatform
import Glibc
import TestSupport
import Testing

@testable import BackhaulConditions

/// A *bus watch* reads conditions (facts such as the network or the system's sleep) from NetworkManager and logind over
/// the system's message bus. A *reading* is the value of a condition, or the reason why the value is unknown. A *socket
/// watch* is notified when the file of the bus's socket changes.
@Suite struct BusAbsentTests {
    private let path = "/tmp/backhaul-bus-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    private var address: String { "unix:path=\(path)" }

    private func watch(_ address: String) throws -> BusWatch {
        try #require(BusWatch.start(address: address, subscriptions: [.network, .sleep]))
    }

    /// Opens a socket that listens at `path`.
    private func listen(backlog: Int32 = 8) -> Int32 {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        withAddress { _ = bind(number, $0, $1) }
        Glibc.listen(number, backlog)
        return number
    }

    private func connect(_ number: Int32) -> Bool { withAddress { Glibc.connect(number, $0, $1) == 0 } }

    private func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Returns how long the closure takes, in milliseconds.
    private func duration(_ body: () -> Void) -> Int64 {
        let start = Clock.bootMilliseconds
        body()
        return Clock.bootMilliseconds - start
    }

    @Test("without a message bus, conditions from the bus are unknown, and their readings name the bus address")
    func none() throws {
        let watch = try watch(address)
        let readings = try watch.settled()
        for source in [
            readings.network.source, readings.isMetered.source, readings.connectivity.source,
            readings.isPreparingForSleep.source,
        ] { #expect(source == "there is no system bus at \(address)") }
        #expect(duration { watch.close() } < 500)
    }

    @Test(
        "a bus address that is not a socket of this machine is not used",
        arguments: ["tcp:host=example.org,port=1", "", "x"])
    func foreign(_ address: String) throws {
        let readings = try watch(address).settled()
        #expect(readings.network.source.contains("configured"))
    }

    @Test("if the bus accepts connections but never replies, conditions from the bus are unknown, and no caller blocks")
    func hangs() throws {
        let number = listen()
        defer {
            close(number)
            unlink(path)
        }
        let watch = try watch(address)
        #expect(duration { _ = watch.takeReadings() } < 500)
        let readings = try watch.settled()
        #expect(readings.network == Reading(source: "the system bus does not reply"))
        #expect(readings.isPreparingForSleep == Reading(source: "the system bus does not reply"))
        #expect(duration { watch.close() } < 500)
        watch.close()
    }

    @Test(
        "if the bus sends malformed replies, conditions from the bus are unknown",
        arguments: ["OK x\r\n", "ERROR\r\n", "\u{0}\u{1}\u{2}", "REJECTED\r\n"])
    func nonsense(_ reply: String) throws {
        let number = listen()
        defer {
            close(number)
            unlink(path)
        }
        let watch = try watch(address)
        let connection = accept(number, nil, nil)
        send(connection, reply, reply.utf8.count, Int32(MSG_NOSIGNAL))
        close(connection)
        #expect(try watch.settled().network.value == nil)
        #expect(duration { watch.close() } < 500)
    }

    @Test("the socket watch notices each creation or change of the bus's socket and directories, and nothing else")
    func comes() throws {
        let folder = path + ".d"
        defer { system("rm -rf '\(folder)'") }
        let place = try #require(BusSocketWatch(path: folder + "/run/bus"))
        #expect(!place.takeChanges())
        try create(path)
        defer { unlink(path) }
        #expect(!place.takeChanges(), "a file elsewhere is no change")
        mkdir(folder, 0o700)
        #expect(place.takeChanges())
        mkdir(folder + "/run", 0o700)
        #expect(place.takeChanges())
        try create(folder + "/run/other")
        #expect(!place.takeChanges())
        try create(folder + "/run/bus")
        #expect(place.takeChanges())
        chmod(folder + "/run/bus", 0o600)
        #expect(place.takeChanges())
        unlink(folder + "/run/bus")
        try create(folder + "/run/bus")
        #expect(place.takeChanges())
        rename(folder, path + ".moved")
        defer { system("rm -rf '\(path).moved'") }
        mkdir(folder, 0o700)
        #expect(place.takeChanges())
    }

    private func create(_ path: String) throws {
        let number = creat(path, 0o600)
        try #require(number >= 0)
        close(number)
    }

    @Test("if the bus's queue of connections is full, conditions from the bus are unknown, and no caller blocks")
    func isFull() throws {
        let number = listen(backlog: 0)
        var waiting: [Int32] = []
        defer { for one in waiting + [number] { close(one) } }
        defer { unlink(path) }
        while true {
            let one = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            waiting.append(one)
            if !connect(one) || waiting.count > 100 { break }
        }
        let watch = try watch(address)
        #expect(try watch.settled().network.value == nil)
        #expect(duration { watch.close() } < 500)
    }

    @Test("a bus watch closes all its descriptors when it is closed")
    func descriptors() async {
        // The test runs in a separate process, because other tests would open descriptors in this process.
        await #expect(processExitsWith: .success) {
            let test = BusAbsentTests()
            let number = test.listen()
            defer {
                close(number)
                unlink(test.path)
            }
            let before = openDescriptors().count
            for _ in 0..<100 {
                let watch = try test.watch(test.address)
                close(accept(number, nil, nil))
                watch.close()
            }
            // libdispatch may have opened a few descriptors meanwhile.
            #expect(openDescriptors().count < before + 10)
        }
    }
}
