import CBackhaul

/// Why transfers wait, and work that repeats.
extension Session {
    /// Of a task that is listed or in the history, oldest first.
    func waits(_ task: UInt64) throws(CommandError) -> [WaitRecord] {
        let ticket = try Ticket { bh_task_waits_start(handle, task, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().waits()
    }

    /// What is remembered with the session about waiting.
    func demands() throws(CommandError) -> SessionDemands {
        let ticket = try Ticket { bh_session_get_configuration_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().withConfiguration { (configuration) throws(CommandError) in
            configuration.map { SessionDemands($0) } ?? SessionDemands()
        }
    }

    func activities() throws(CommandError) -> [ActivityRecord] {
        let ticket = try Ticket { bh_session_activities_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().activities()
    }

    func set(_ activity: Activity) throws(CommandError) {
        let arena = CStringArena()
        var value = activity.activity(arena)
        let ticket = try Ticket { bh_session_set_activity_start(handle, &value, $0, $1) }
        try ticket.wait(signals)
    }

    func removeActivity(_ identifier: String) throws(CommandError) {
        let arena = CStringArena()
        let ticket = try Ticket { bh_session_remove_activity_start(handle, arena.string(identifier), $0, $1) }
        try ticket.wait(signals)
    }
}

extension Application {
    func conditions() throws(CommandError) -> [ConditionRecord] {
        let ticket = try Ticket { bh_application_conditions_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().conditions()
    }

    /// In all sessions of the store.
    func holds() throws(CommandError) -> [HoldRecord] {
        let ticket = try Ticket { bh_application_holds_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().holds()
    }

    func networks() throws(CommandError) -> [NetworkRecord] {
        let ticket = try Ticket { bh_application_networks_start(handle, $0, $1) }
        try ticket.wait(signals)
        return try ticket.batch().networks()
    }

    func set(_ network: NetworkRecord) throws(CommandError) {
        let arena = CStringArena()
        var value = network.network(arena)
        let ticket = try Ticket { bh_application_set_network_start(handle, &value, $0, $1) }
        try ticket.wait(signals)
    }
}
