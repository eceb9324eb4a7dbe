import BackhaulClient
import BackhaulEngine
import BackhaulModel
import BackhaulPlatform
import Testing

@Suite("Tasks that state something else")
struct RestatedTests {
    let store: TestStore
    let origin: TestOrigin

    init() throws {
        store = try TestStore()
        origin = try TestOrigin()
    }

    @Test("what a task states is known again after its like were gone for a while")
    func again() throws {
        let engine = try ToldEngine(store, .onBattery)
        defer { engine.stop() }
        let host = try engine.session(SessionConfiguration(identifier: "s"))
        var request = try store.request(origin.url("/a"), "a")
        request.options.policy.constraints.requiresExternalPower = true
        for _ in 0..<2 {
            let task = try host.enqueue(request)[0]
            _ = try host.waits(task, for: .power)
            _ = try answer(host.session.control(.cancel, TaskSelection()))
            #expect(waitUntil { engine.conditions.needs.isEmpty })
        }
        #expect(origin.asked.isEmpty)
    }
}
