internal import BackhaulConditions
internal import BackhaulModel

/// The source of the engine's conditions (power, network and others): the system, or a fake. Only the thread of the
/// engine's event loop uses it.
protocol ConditionsSource: AnyObject {
    /// The conditions that the engine needs. Other conditions are not read.
    var needs: ConditionSet { get set }
    /// The needed conditions that were not read yet.
    var pending: ConditionSet { get }
    var current: Conditions { get }
    /// The administrator's settings: for the name of a network, whether this network is metered.
    var metered: [String: Bool] { get set }
    func readAll(then: @escaping (Conditions) -> Void)
    func readyToSleep()
    func close()
}

extension ConditionsWatch: ConditionsSource {}
