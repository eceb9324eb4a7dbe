import BackhaulModel
import Testing

@testable import BackhaulEngine

@Suite("The pauses of origins")
struct OriginControllerTests {
    private let runtime = FakeRuntime()
    private let controller: OriginController
    private let origin = Origin(scheme: "https", server: "example.org", port: 443)

    init() { controller = OriginController(runtime) }

    private func isChange(_ effects: [EngineEffect]) -> Bool {
        effects.has { if case .originsChanged = $0 { true } else { false } }
    }

    @Test("without a pause, a response does not even need its origin")
    func none() {
        for response in [OriginResponse.other, .refusal] {
            let effects = controller.responded(response) {
                Issue.record("the origin was read")
                return origin
            }
            #expect(effects.isEmpty)
        }
    }

    @Test("the limits change when a pause begins, when it ends, and after each response of the slow start")
    func changes() {
        #expect(isChange(controller.responded(.pause(seconds: 30), from: { origin })))
        controller.startTimer()
        #expect(controller.widths() == [origin: 0] && controller.millisecondsUntilEnd(of: origin) == 30_000)
        runtime.advance(milliseconds: 29_999)
        #expect(runtime.takeEffects().isEmpty)
        runtime.advance(milliseconds: 1)
        #expect(isChange(runtime.takeEffects()))
        #expect(controller.widths() == [origin: 1] && controller.millisecondsUntilEnd(of: origin) == nil)
        #expect(isChange(controller.responded(.other, from: { origin })))
        #expect(controller.widths() == [origin: 2])
    }

    @Test("after any number of changes, a change is reported one time, and none is reported before the first")
    func manyChanges() {
        #expect(!controller.takeChange())
        for _ in 0..<300 { controller.noteChange() }
        let reports = (0..<300).count { _ in controller.takeChange() }
        #expect(reports == 1)
    }

    @Test("each lane of a paused origin has one wait record, which ends with the pause")
    func waits() {
        let lane = EngineFixture.lane
        #expect(controller.recordWaits(of: [lane]).waitsBegun == [.origin(lane.id)])
        #expect(controller.recordWaits(of: [lane]).isEmpty)
        #expect(controller.recordWaits(of: []).waitsEnded == [.origin(lane.id)])
    }

    @Test("an idle origin is forgotten, and then no timer runs")
    func idle() {
        _ = controller.responded(.pause(seconds: 1), from: { origin })
        runtime.advance(milliseconds: 700_000)
        controller.startTimer()
        #expect(controller.isEmpty)
        runtime.advance(milliseconds: 86_400_000)
        #expect(runtime.takeEffects().isEmpty)
    }
}
