internal import BackhaulConditions
internal import BackhaulModel

/// The source of the engine's conditions: the system, or a fake. It is used on the loop's thread only.
protocol ConditionsSource: AnyObject {
    /// The conditions that something depends on. The others are not read.
    var needs: ConditionNeeds { get set }
    /// The needed conditions that were not read yet.
    var pending: ConditionNeeds { get }
    var current: Conditions { get }
    /// The administrator's settings: whether networks are metered, by name.
    var metered: [String: Bool] { get set }
    func readAll(then: @escaping (Conditions) -> Void)
    func readyToSleep()
    func close()
}

extension ConditionsWatch: ConditionsSource {}
