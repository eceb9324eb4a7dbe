internal import CBackhaul

/// Methods that read the state of the system, and the tasks that it holds.
extension Application {
    /// Returns the present conditions, one of each kind. The engine reads a condition for this call if no task depends
    /// on it.
    public func conditions() async throws -> [Condition] {
        try await listing(bh_store_conditions) { $0.conditions() }
    }

    /// Returns the holds of all sessions of the store.
    public func holds() async throws -> [Hold] { try await listing(bh_store_holds) { $0.holds() } }

    /// Returns the current network, and all networks that have settings or were used in this month.
    public func networks() async throws -> [Network] {
        try await listing(bh_store_networks) { $0.networks() }
    }

    /// Stores the settings of a network. They apply immediately. If all settings are defaults, they are removed.
    public func setNetwork(_ network: Network) async throws {
        let arena = Arena()
        var value = try network.value(arena)
        try await driver.verb { application, error in
            bh_store_set_network(application, &value, BH_START, error)
        } take: { outcome throws(BackhaulError) in
            try outcome.done()
        }
    }
}
