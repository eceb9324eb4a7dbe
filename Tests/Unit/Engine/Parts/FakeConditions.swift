import BackhaulModel

@testable import BackhaulEngine

/// The system of a test. Its readings come at once, except those that are pending.
final class FakeConditions: ConditionsSource {
    var current = Conditions()
    var pending: ConditionNeeds = []
    var metered: [String: Bool] = [:]
    var changed: () -> Void = {}
    /// How often the system was informed that it need not wait before it sleeps.
    private(set) var readyToSleepCount = 0
    /// A source may report a change while it is asked for more.
    var needs: ConditionNeeds = [] { didSet { changed() } }
    func readAll(then: @escaping (Conditions) -> Void) { then(current) }
    func readyToSleep() { readyToSleepCount += 1 }
    func close() {}
}
