internal import BackhaulConditions
internal import BackhaulModel

/// Where the engine's conditions come from: the system, or whoever stands in for it. Lives on the loop's thread.
protocol ConditionsSource: AnyObject {
    /// What something depends on; the rest is not read.
    var needs: ConditionNeeds { get set }
    /// Of these nothing was read yet.
    var pending: ConditionNeeds { get }
    var current: Conditions { get }
    /// What the administrator says of networks, by their names.
    var metered: [String: Bool] { get set }
    func readAll(then: @escaping (Conditions) -> Void)
    func readyToSleep()
    func close()
}

extension ConditionsWatch: ConditionsSource {}
