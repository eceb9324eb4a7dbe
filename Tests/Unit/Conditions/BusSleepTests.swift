import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulConditions

/// A *bus watch* reads conditions (facts such as the network or the machine's sleep) from NetworkManager and logind
/// over the system's message bus. The watch delays the machine's sleep: while it keeps a file descriptor of logind
/// open, logind waits some seconds before the sleep. A call of `readyToSleep` ends this delay. A condition is *needed*
/// while tasks depend on it.
@Suite(.serialized) struct BusSleepTests {
    private let bus: PrivateBus

    init() throws {
        bus = try PrivateBus()
        try bus.call("logind", "count_inhibitors")
    }

    private func watch() throws -> BusWatch {
        let watch = try #require(BusWatch.start(address: bus.address, subscriptions: .sleep))
        #expect(try watch.settled().isPreparingForSleep == Reading(false, source: "logind"))
        return watch
    }

    @Test("each sleep of the machine is delayed until `readyToSleep` is called")
    func delay() throws {
        let watch = try watch()
        try bus.call("logind", "wait_for_inhibitors", "1")
        let holders = try bus.call("logind", "inhibitors")
        #expect(
            holders == "[Inhibitor(what='sleep', who='Backhaul', why='Transfers are written to disk', mode='delay')]")
        for _ in 0..<3 {
            try bus.call("logind", "prepare_for_sleep", "1")
            try watch.until("the preparation") { $0.isPreparingForSleep.value == true }
            #expect(try bus.call("logind", "count_inhibitors") == "1")
            watch.readyToSleep()
            try bus.call("logind", "wait_for_inhibitors", "0")
            try bus.call("logind", "prepare_for_sleep", "0")
            try watch.until("the end of the sleep") { $0.isPreparingForSleep.value == false }
            try bus.call("logind", "wait_for_inhibitors", "1")
        }
    }

    @Test("if `readyToSleep` is called only after a sleep has ended, the next sleep is still delayed")
    func late() throws {
        let watch = try watch()
        try bus.call("logind", "wait_for_inhibitors", "1")
        watch.readyToSleep()
        try bus.call("logind", "prepare_for_sleep", "1")
        try watch.until("the preparation") { $0.isPreparingForSleep.value == true }
        try bus.call("logind", "prepare_for_sleep", "0")
        try watch.until("the end of the sleep") { $0.isPreparingForSleep.value == false }
        watch.readyToSleep()
        #expect(try bus.call("logind", "inhibitors").contains("Backhaul"))
        #expect(try bus.call("logind", "count_inhibitors") == "1")
    }

    @Test("if the needed conditions change after a sleep was announced, this sleep is still delayed")
    func otherWants() throws {
        let watch = try #require(BusWatch.start(address: bus.address, subscriptions: [.network, .sleep]))
        _ = try watch.settled()
        try bus.call("logind", "wait_for_inhibitors", "1")
        try bus.call("logind", "prepare_for_sleep", "1")
        try watch.until("the preparation") { $0.isPreparingForSleep.value == true }
        for subscriptions in [.sleep, [.network, .sleep]] as [ConditionSet] {
            watch.subscribe(subscriptions)
            let readings = try watch.until("what is wanted") { $0.requested == subscriptions && $0.isSettled }
            #expect(readings.isPreparingForSleep.value == true)
            #expect(try bus.call("logind", "count_inhibitors") == "1")
        }
        watch.readyToSleep()
        try bus.call("logind", "wait_for_inhibitors", "0")
    }

    @Test("the machine's sleep is delayed only while the condition `sleep` is needed")
    func wantedLater() throws {
        let watch = try #require(BusWatch.start(address: bus.address, subscriptions: .network))
        _ = try watch.settled()
        for _ in 0..<3 {
            watch.subscribe([.network, .sleep])
            try watch.until("logind") { $0.isPreparingForSleep.value == false && $0.isSettled }
            try bus.call("logind", "wait_for_inhibitors", "1")
            watch.subscribe(.network)
            try bus.call("logind", "wait_for_inhibitors", "0")
            try watch.until("its end") { $0.requested == .network }
        }
    }

    @Test("the delay of sleep is released when the bus watch is closed or freed")
    func closing() throws {
        let watch = try watch()
        try bus.call("logind", "wait_for_inhibitors", "1")
        watch.close()
        try bus.call("logind", "wait_for_inhibitors", "0")
        do {
            let other = try self.watch()
            try bus.call("logind", "wait_for_inhibitors", "1")
            _ = other.number
        }
        try bus.call("logind", "wait_for_inhibitors", "0")
    }

    @Test("the bus watch reports a sleep that began before the watch started, and delays the next sleep")
    func underWay() throws {
        try bus.call("logind", "prepare_for_sleep", "1")
        let watch = try #require(BusWatch.start(address: bus.address, subscriptions: .sleep))
        #expect(try watch.settled().isPreparingForSleep == Reading(true, source: "logind"))
        #expect(try bus.call("logind", "calls", "Inhibit") == "0")
        try bus.call("logind", "prepare_for_sleep", "0")
        try bus.call("logind", "wait_for_inhibitors", "1")
    }

    @Test("while logind restarts, the condition `sleep` is unknown; after the restart, sleep is delayed again")
    func restarts() throws {
        let watch = try watch()
        try bus.call("logind", "wait_for_inhibitors", "1")
        try bus.call("logind", "stop")
        try watch.until("its end") { $0.isPreparingForSleep == Reading(source: "logind is not on the bus") }
        try bus.call("logind", "start")
        try watch.until("its return") { $0.isPreparingForSleep.value == false }
        try bus.call("logind", "wait_for_inhibitors", "1")
        try bus.call("logind", "prepare_for_sleep", "1")
        try watch.until("the preparation") { $0.isPreparingForSleep.value == true }
        watch.readyToSleep()
        try bus.call("logind", "wait_for_inhibitors", "0")
    }

    @Test("a sleep signal is ignored if its sender is not logind")
    func foreign() throws {
        let watch = try watch()
        try bus.call("bus", "send_false_signals")
        try bus.call("logind", "prepare_for_sleep", "1")
        try watch.until("the true one") { $0.isPreparingForSleep.value == true }
        try bus.call("logind", "prepare_for_sleep", "0")
        try watch.until("its end") { $0.isPreparingForSleep.value == false }
        try bus.call("bus", "send_false_signals")
        try bus.call("logind", "wait_for_inhibitors", "1")
        #expect(watch.takeReadings().isPreparingForSleep.value == false)
    }

    @Test("the thread of a bus watch does not wake up while the bus reports no changes")
    func idle() throws {
        try bus.call("network", "connect", "Home")
        let others = Set(BusSleepTests.wakes().keys)
        let watch = try #require(BusWatch.start(address: bus.address, subscriptions: [.network, .sleep]))
        _ = try watch.settled()
        try bus.call("logind", "wait_for_inhibitors", "1")
        var before: [String: Int] = [:]
        var now = BusSleepTests.wakes()
        while before != now {
            before = now
            _ = watch.isReadable(within: 1_500)
            now = BusSleepTests.wakes()
        }
        #expect(!watch.isReadable(within: 3_000))
        let after = BusSleepTests.wakes()
        let ours = before.keys.filter { !others.contains($0) }
        #expect(ours.contains { before[$0] == after[$0] })
        watch.close()
    }

    /// Returns how many times each thread of a bus watch has blocked so far.
    private static func wakes() -> [String: Int] {
        var found: [String: Int] = [:]
        for name in (try? DirectoryReader.textNames(in: "/proc/self/task")) ?? [] {
            let status = contents("/proc/self/task/\(name)/status")
            guard status.hasPrefix("Name:\tbackhaul-bus\n") else { continue }
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            found[name] = line.flatMap { Int($0.filter(\.isNumber)) }
        }
        return found
    }

    private static func contents(_ path: String) -> String {
        let number = open(path, O_RDONLY)
        guard number >= 0 else { return "" }
        defer { close(number) }
        var buffer = [UInt8](repeating: 0, count: 8_192)
        let count = read(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("a program that this process starts does not inherit logind's descriptor for the delay")
    func closeOnExec() throws {
        let watch = try watch()
        try bus.call("logind", "wait_for_inhibitors", "1")
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawnp(&process, "sleep", nil, nil, &arguments, environ) == 0)
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        watch.close()
        try bus.call("logind", "wait_for_inhibitors", "0")
    }
}
