import BackhaulModel
import Testing

/// The C header expresses the change of a start time as a number.
@Suite("Rescheduled start times")
struct RescheduleTests {
    private func decide(
        _ standing: ScheduledTask.Standing, earliest: Int64? = nil, latest: Int64? = nil, _ rescheduling: Rescheduling
    ) throws -> RescheduleDecision? {
        try RescheduleDecision.decide(
            ScheduledTask(id: TaskID(rawValue: 7), earliest: earliest, latest: latest, standing: standing),
            rescheduling, now: 100)
    }

    @Test(
        "a rescheduled task waits for its new earliest start, waits for a slot, or continues its earlier wait",
        arguments: [
            (.ready, .to(200), .until(200)), (.ready, .to(100), .unchanged), (.ready, .to(nil), .unchanged),
            (.early, .to(nil), .ended), (.early, .to(99), .ended), (.early, .to(200), .until(200)),
            (.retry(150), .to(200), .until(200)), (.retry(300), .to(200), .unchanged),
            (.retry(150), .to(nil), .unchanged), (.other, .to(200), .unchanged), (.other, .to(nil), .unchanged),
        ] as [(ScheduledTask.Standing, StartChange, RescheduleDecision.Delay)])
    func delays(
        _ standing: ScheduledTask.Standing, _ earliest: StartChange, _ expected: RescheduleDecision.Delay
    ) throws {
        let decision = try decide(standing, earliest: 150, Rescheduling(earliest: earliest))
        #expect(decision?.delay == expected)
    }

    @Test("a rescheduling changes only the start times that it states, and skips a task if nothing changes")
    func unchanged() throws {
        #expect(try decide(.early, earliest: 200, latest: 300, Rescheduling()) == nil)
        #expect(try decide(.early, earliest: 200, Rescheduling(earliest: .to(200), latest: .to(nil))) == nil)
        let latest = try decide(.early, earliest: 200, Rescheduling(latest: .to(300)))
        #expect(latest?.earliest == 200 && latest?.latest == 300 && latest?.delay == .unchanged)
        let earliest = try decide(.ready, latest: 300, Rescheduling(earliest: .to(250)))
        #expect(earliest?.earliest == 250 && earliest?.latest == 300 && earliest?.delay == .until(250))
    }

    @Test(
        "a latest start before the earliest start is refused, and the error names the task",
        arguments: [
            Rescheduling(earliest: .to(301)), Rescheduling(latest: .to(199)),
            Rescheduling(earliest: .to(500), latest: .to(400)),
        ])
    func refused(_ rescheduling: Rescheduling) throws {
        let failure = #expect(throws: Failure.self) {
            try decide(.early, earliest: 200, latest: 300, rescheduling)
        }
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("latest_start_ms of task 7 would be") == true)
    }

    @Test("an earliest start and a latest start at the same time are accepted")
    func same() throws {
        #expect(try decide(.ready, Rescheduling(earliest: .to(200), latest: .to(200))) != nil)
        #expect(throws: Never.self) { try RescheduleDecision.check(Rescheduling(earliest: .to(2), latest: .to(2))) }
        #expect(throws: Failure.self) { try RescheduleDecision.check(Rescheduling(earliest: .to(2), latest: .to(1))) }
    }

    @Test("each valid number for the change of a start time is decoded", arguments: [-1, 0, 1, Limits.time])
    func codes(_ code: Int64) {
        #expect(StartChange(code: code)?.code == code)
    }

    @Test("an invalid number for the change of a start time is refused", arguments: [-2, .min, Limits.time + 1, .max])
    func noCodes(_ code: Int64) {
        #expect(StartChange(code: code) == nil)
    }
}
