import BackhaulModel
import BackhaulPlatform
import Glibc
import Testing

@testable import BackhaulConditions

@Suite(.serialized) struct BusSleepTests {
    private let bus: PrivateBus

    init() throws {
        bus = try PrivateBus()
        try bus.tell("logind", "count_inhibitors")
    }

    private func watch() throws -> BusWatch {
        let watch = try #require(BusWatch.start(address: bus.address, wants: .sleep))
        #expect(try watch.settled().isAboutToSleep == Reading(false, source: "logind"))
        return watch
    }

    @Test("each sleep is delayed until the work is done")
    func delay() throws {
        let watch = try watch()
        try bus.tell("logind", "until_inhibitors", "1")
        let holders = try bus.tell("logind", "inhibitors")
        #expect(
            holders == "[Inhibitor(what='sleep', who='Backhaul', why='Transfers are written to disk', mode='delay')]")
        for _ in 0..<3 {
            try bus.tell("logind", "prepare_for_sleep", "1")
            try watch.until("the preparation") { $0.isAboutToSleep.value == true }
            #expect(try bus.tell("logind", "count_inhibitors") == "1")
            watch.readyToSleep()
            try bus.tell("logind", "until_inhibitors", "0")
            try bus.tell("logind", "prepare_for_sleep", "0")
            try watch.until("the end of the sleep") { $0.isAboutToSleep.value == false }
            try bus.tell("logind", "until_inhibitors", "1")
        }
    }

    @Test("readiness after the end of a sleep does not release the next delay")
    func late() throws {
        let watch = try watch()
        try bus.tell("logind", "until_inhibitors", "1")
        watch.readyToSleep()
        try bus.tell("logind", "prepare_for_sleep", "1")
        try watch.until("the preparation") { $0.isAboutToSleep.value == true }
        try bus.tell("logind", "prepare_for_sleep", "0")
        try watch.until("the end of the sleep") { $0.isAboutToSleep.value == false }
        watch.readyToSleep()
        #expect(try bus.tell("logind", "inhibitors").contains("Backhaul"))
        #expect(try bus.tell("logind", "count_inhibitors") == "1")
    }

    @Test("a change of needs during a sleep does not release the delay")
    func otherWants() throws {
        let watch = try #require(BusWatch.start(address: bus.address, wants: [.network, .sleep]))
        _ = try watch.settled()
        try bus.tell("logind", "until_inhibitors", "1")
        try bus.tell("logind", "prepare_for_sleep", "1")
        try watch.until("the preparation") { $0.isAboutToSleep.value == true }
        for wants in [.sleep, [.network, .sleep]] as [ConditionNeeds] {
            watch.want(wants)
            let readings = try watch.until("what is wanted") { $0.asked == wants && $0.isSettled }
            #expect(readings.isAboutToSleep.value == true)
            #expect(try bus.tell("logind", "count_inhibitors") == "1")
        }
        watch.readyToSleep()
        try bus.tell("logind", "until_inhibitors", "0")
    }

    @Test("the delay starts when sleep is needed, and is released when it is not")
    func wantedLater() throws {
        let watch = try #require(BusWatch.start(address: bus.address, wants: .network))
        _ = try watch.settled()
        for _ in 0..<3 {
            watch.want([.network, .sleep])
            try watch.until("logind") { $0.isAboutToSleep.value == false && $0.isSettled }
            try bus.tell("logind", "until_inhibitors", "1")
            watch.want(.network)
            try bus.tell("logind", "until_inhibitors", "0")
            try watch.until("its end") { $0.asked == .network }
        }
    }

    @Test("closing or freeing the watch releases the delay")
    func closing() throws {
        let watch = try watch()
        try bus.tell("logind", "until_inhibitors", "1")
        watch.close()
        try bus.tell("logind", "until_inhibitors", "0")
        do {
            let other = try self.watch()
            try bus.tell("logind", "until_inhibitors", "1")
            _ = other.number
        }
        try bus.tell("logind", "until_inhibitors", "0")
    }

    @Test("a sleep that began before the watch is reported, and the next one is delayed")
    func underWay() throws {
        try bus.tell("logind", "prepare_for_sleep", "1")
        let watch = try #require(BusWatch.start(address: bus.address, wants: .sleep))
        #expect(try watch.settled().isAboutToSleep == Reading(true, source: "logind"))
        #expect(try bus.tell("logind", "calls", "Inhibit") == "0")
        try bus.tell("logind", "prepare_for_sleep", "0")
        try bus.tell("logind", "until_inhibitors", "1")
    }

    @Test("a logind that restarts is unknown meanwhile, and then gets a new delay")
    func restarts() throws {
        let watch = try watch()
        try bus.tell("logind", "until_inhibitors", "1")
        try bus.tell("logind", "stop")
        try watch.until("its end") { $0.isAboutToSleep == Reading(source: "logind is not on the bus") }
        try bus.tell("logind", "start")
        try watch.until("its return") { $0.isAboutToSleep.value == false }
        try bus.tell("logind", "until_inhibitors", "1")
        try bus.tell("logind", "prepare_for_sleep", "1")
        try watch.until("the preparation") { $0.isAboutToSleep.value == true }
        watch.readyToSleep()
        try bus.tell("logind", "until_inhibitors", "0")
    }

    @Test("a sleep signal from another sender is ignored")
    func foreign() throws {
        let watch = try watch()
        try bus.tell("bus", "send_false_signals")
        try bus.tell("logind", "prepare_for_sleep", "1")
        try watch.until("the true one") { $0.isAboutToSleep.value == true }
        try bus.tell("logind", "prepare_for_sleep", "0")
        try watch.until("its end") { $0.isAboutToSleep.value == false }
        try bus.tell("bus", "send_false_signals")
        try bus.tell("logind", "until_inhibitors", "1")
        #expect(watch.takeReadings().isAboutToSleep.value == false)
    }

    @Test("without changes the watch's thread does not wake up")
    func idle() throws {
        try bus.tell("network", "connect", "Home")
        let others = Set(BusSleepTests.wakes().keys)
        let watch = try #require(BusWatch.start(address: bus.address, wants: [.network, .sleep]))
        _ = try watch.settled()
        try bus.tell("logind", "until_inhibitors", "1")
        var before: [String: Int] = [:]
        var now = BusSleepTests.wakes()
        while before != now {
            before = now
            _ = watch.isReadable(within: 200)
            now = BusSleepTests.wakes()
        }
        #expect(!watch.isReadable(within: 3_000))
        let after = BusSleepTests.wakes()
        let ours = before.keys.filter { !others.contains($0) }
        #expect(ours.contains { before[$0] == after[$0] })
        watch.close()
    }

    /// Returns for each thread of a watch how often it has blocked so far.
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

    @Test("a started program does not inherit the descriptor of the delay")
    func closeOnExec() throws {
        let watch = try watch()
        try bus.tell("logind", "until_inhibitors", "1")
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("60"), nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawnp(&process, "sleep", nil, nil, &arguments, environ) == 0)
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        watch.close()
        try bus.tell("logind", "until_inhibitors", "0")
    }
}
