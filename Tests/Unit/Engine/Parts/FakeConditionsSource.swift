import BackhaulModel

@testable import BackhaulEngine

/// A source from which the engine reads conditions, which are facts such as power. The test sets their values. The test
/// also sets which conditions are *pending*, which means that they were not read yet.
final class FakeConditionsSource: ConditionsSource {
    var current = Conditions()
    var pending: ConditionSet = []
    var metered: [String: Bool] = [:]
    var changed: () -> Void = {}
    /// The conditions that the engine needs. When the engine sets them, the source reports a change of conditions, as a
    /// real source may do.
    var needs: ConditionSet = [] { didSet { changed() } }
    func readAll(then: @escaping (Conditions) -> Void) { then(current) }
    func readyToSleep() {}
    func close() {}
}
