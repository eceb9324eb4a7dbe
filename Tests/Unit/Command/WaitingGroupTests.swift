import Backhaul
import Testing

@testable import backhaul

/// The command `backhaul why` groups the waiting transfers of a session, a named collection of transfers.
@Suite("Waiting transfers of a session")
struct WaitingGroupTests {
    private func gathered(_ tasks: [TaskInfo]) -> [WaitingGroup] {
        var groups: [WaitingGroup.Key: WaitingGroup] = [:]
        var order: [WaitingGroup.Key] = []
        for task in tasks { WaitingGroup.gather(task, into: &groups, order: &order) }
        return order.compactMap { groups[$0] }
    }

    private func lines(_ group: WaitingGroup, began: Int64? = nil) -> [String] {
        group.waitExplanation(WaitFacts(), session: "photos", began: began, now: evening) {
            "backhaul " + $0.joined(separator: " ")
        }.lines()
    }

    @Test("waiting transfers are grouped by reason, and each group names at most five transfers")
    func grouped() throws {
        let groups = gathered(
            (1...1000).map { task(.power, text: "on battery", id: $0, stated: external) }
                + [task(.slot, text: "other transfers run before it", id: 1001)])
        #expect(groups.count == 2)
        let lines = lines(try #require(groups.first), began: evening - hour)
        #expect(lines[0] == "1000 transfers wait for external power since 20:10.")
        #expect(lines.contains("  - download 1: large.iso from example.org, 0 B of ?"))
        #expect(lines.filter { $0.hasPrefix("  - download ") }.count == 5)
        #expect(lines.contains("  - and 995 more:"))
        #expect(lines.contains("      backhaul constrain TASK... --external-power no"))
    }

    @Test("the advice for a group names only the transfers that have a constraint of their own")
    func asking() {
        let groups = gathered([
            task(.power, text: "on battery", id: 1, stated: external),
            task(.power, text: "on battery", id: 2),
            task(.power, text: "on battery", id: 3, stated: external),
        ])
        #expect(lines(groups[0]).contains("      backhaul constrain 1 3 --external-power no"))
    }

    private var external: Constraints {
        var stated = Constraints()
        stated.requiresExternalPower = true
        return stated
    }

    @Test("the first line about a group of one waiting transfer has the name of the transfer")
    func one() {
        let groups = gathered([task(.power, text: "on battery", id: 3)])
        #expect(lines(groups[0])[0] == "Download 3 (large.iso from example.org, 0 B of ?) waits for external power.")
    }

    @Test("running and ended transfers are not listed as waiting")
    func moving() {
        let tasks = [task(nil, state: .running), task(nil, state: .failed)]
        #expect(gathered(tasks).isEmpty)
    }

    @Test("a group has the start of the hold with its sentence, or that of the first hold with its reason")
    func began() {
        let holds = [
            hold(.battery, text: "at 20 %", began: evening - hour),
            hold(.battery, text: "at 30 %", began: evening - minute),
            hold(.budget, text: "the smallest", began: evening),
        ]
        let groups: [(Reason, String)] = [
            (.battery, "at 30 %"), (.battery, "at 40 %"), (.budget, "a budget"), (.heat, "hot"),
        ]
        let starts = groups.map { WaitingGroup.Key(reason: $0.0, text: $0.1).began(holds) }
        #expect(starts == [evening - minute, evening - hour, evening, nil])
    }

    @Test("a group that waits for retries shows the time of the next retry, and the error of each transfer")
    func nextCheck() {
        let groups = gathered([
            task(.retry, text: "a", next: evening + 2 * minute, id: 1, error: "one"),
            task(.retry, text: "b", next: evening + minute, id: 2, error: "two"),
        ])
        #expect(groups.map(\.nextCheck) == [evening + minute])
        let lines = lines(groups[0])
        #expect(lines[0] == "2 transfers wait for their next attempt.")
        #expect(lines.contains("  - download 2: large.iso from example.org, 0 B of ? - two"))
    }
}

@Suite("Listings of conditions and networks")
struct ConditionListingTests {
    init() { #expect(isInBerlin) }

    @Test("if a condition is unknown, a listing of conditions says that no transfer waits for this condition")
    func unknown() {
        let lines = Conditions.table(
            [
                condition(.battery, 63, "63 %"),
                condition(.thermalState, 0, "", isKnown: false),
            ], now: evening)
        #expect(lines[1].hasPrefix("battery"))
        #expect(lines[1].contains("63 %"))
        #expect(lines[1].contains("21:04"))
        #expect(lines[2].hasPrefix("heat"))
        #expect(lines[2].contains("cannot be read: holds no transfer"))
    }

    @Test("a listing of networks shows how many bytes of a network's budget are used")
    func bars() {
        #expect(Networks.use(1_200_000_000, 2_000_000_000) == "1.2 GB of 2.0 GB [======    ]")
        #expect(Networks.use(3_000_000_000, 2_000_000_000) == "3.0 GB of 2.0 GB [==========]")
        #expect(Networks.use(0, 0) == "0 B of 0 B [==========]")
        #expect(Networks.use(500, nil) == "500 B")
    }
}
