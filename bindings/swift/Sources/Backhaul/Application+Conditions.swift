/// Methods for the conditions of the system (such as power), for the tasks that wait because of a condition, and for
/// networks.
extension Application {
    /// Returns the present conditions, one of each kind. If no task depends on a condition, the engine reads the
    /// condition during this call.
    public func conditions() async throws -> [Condition] { try await driver.run(.conditions) }

    /// Returns the holds of all sessions of the store. A hold describes the tasks of one session that wait because of
    /// one condition.
    public func holds() async throws -> [Hold] { try await driver.run(.holds) }

    /// Returns the current network, and all networks that have settings or were used in this month.
    public func networks() async throws -> [Network] { try await driver.run(.networks) }

    /// Stores the settings of a network. The settings apply immediately. If all of them have their default values, the
    /// engine removes the stored settings.
    public func setNetwork(_ network: Network) async throws { try await driver.run(.setNetwork(network)) }
}
