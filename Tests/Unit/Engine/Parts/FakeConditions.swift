import BackhaulModel

@testable import BackhaulEngine

/// A source whose readings the test sets. They are available at once, except the pending ones.
final class FakeConditions: ConditionsSource {
    var current = Conditions()
    var pending: ConditionNeeds = []
    var metered: [String: Bool] = [:]
    var changed: () -> Void = {}
    /// How often the engine has reported that the system may sleep.
    private(set) var readyToSleepCount = 0
    /// A change of the needs reports a change, as a real source may do.
    var needs: ConditionNeeds = [] { didSet { changed() } }
    func readAll(then: @escaping (Conditions) -> Void) { then(current) }
    func readyToSleep() { readyToSleepCount += 1 }
    func close() {}
}
