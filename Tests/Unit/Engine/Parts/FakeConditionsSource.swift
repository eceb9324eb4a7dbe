import BackhaulModel

@testable import BackhaulEngine

/// A source of conditions whose readings the test sets. A reading that is not pending is available immediately.
final class FakeConditionsSource: ConditionsSource {
    var current = Conditions()
    var pending: ConditionSet = []
    var metered: [String: Bool] = [:]
    var changed: () -> Void = {}
    /// How many times the engine has reported that the system may sleep.
    private(set) var readyToSleepCount = 0
    /// The conditions that the engine needs. When the engine sets them, the source reports a change of conditions, as a
    /// real source may do.
    var needs: ConditionSet = [] { didSet { changed() } }
    func readAll(then: @escaping (Conditions) -> Void) { then(current) }
    func readyToSleep() { readyToSleepCount += 1 }
    func close() {}
}
