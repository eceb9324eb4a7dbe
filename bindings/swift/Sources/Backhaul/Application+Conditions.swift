internal import CBackhaul

/// What the system offers now, and what waits for it.
extension Application {
    /// What the engine sees now, one of each kind, read for this call if nothing depends on it.
    public func conditions() async throws -> [Condition] {
        try await listing(bh_application_conditions_start) { $0.conditions() }
    }

    /// What is held back now, in all sessions of the store.
    public func holds() async throws -> [Hold] { try await listing(bh_application_holds_start) { $0.holds() } }

    /// Networks of which something was said or on which something was moved this month, and the current one.
    public func networks() async throws -> [Network] {
        try await listing(bh_application_networks_start) { $0.networks() }
    }

    /// Says whether a network is metered and how many bytes may be moved on it, durably and at once; one with nothing
    /// but its name forgets what was said.
    public func setNetwork(_ network: Network) async throws {
        let arena = Arena()
        var value = try network.value(arena)
        try await driver.verb { application, ticket, error in
            bh_application_set_network_start(application, &value, ticket, error)
        } take: { answer throws(BackhaulError) in
            try answer.done()
        }
    }
}
