import CBackhaul

/// The session's functions for wait records, requirements and activities. A *wait record* has the reason, the start and
/// the end of one wait of a task. An *activity* is work that repeats.
extension Session {
    /// The wait records of a task, oldest first. Ended tasks in the history have wait records, too.
    func waits(_ task: UInt64) throws(CommandError) -> [WaitRecord] {
        let ticket = try Ticket { bh_task_waits(handle, task, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().waits()
    }

    /// The constraints (demands on the system) and limits in the session's configuration.
    func requirements() throws(CommandError) -> SessionRequirements {
        try withConfiguration { (configuration) throws(CommandError) in
            configuration.map { SessionRequirements($0) } ?? SessionRequirements()
        }
    }

    func activities() throws(CommandError) -> [ActivityRecord] {
        let ticket = try Ticket { bh_session_activities(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().activities()
    }

    func set(_ activity: Activity) throws(CommandError) {
        let arena = CStringArena()
        var value = activity.activity(arena)
        let ticket = try Ticket { bh_session_set_activity(handle, &value, BH_START, $0) }
        try ticket.wait(signals)
    }

    func removeActivity(_ identifier: String) throws(CommandError) {
        let arena = CStringArena()
        let ticket = try Ticket { bh_session_remove_activity(handle, arena.string(identifier), BH_START, $0) }
        try ticket.wait(signals)
    }
}

extension Application {
    func conditions() throws(CommandError) -> [ConditionRecord] {
        let ticket = try Ticket { bh_store_conditions(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().conditions()
    }

    /// The holds of all sessions of the store. A *hold* is a reason for which tasks wait now, such as missing power.
    func holds() throws(CommandError) -> [HoldRecord] {
        let ticket = try Ticket { bh_store_holds(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().holds()
    }

    func networks() throws(CommandError) -> [NetworkRecord] {
        let ticket = try Ticket { bh_store_networks(handle, BH_START, nil, $0) }
        try ticket.wait(signals)
        return try ticket.batch().networks()
    }

    func set(_ network: NetworkRecord) throws(CommandError) {
        let arena = CStringArena()
        var value = network.network(arena)
        let ticket = try Ticket { bh_store_set_network(handle, &value, BH_START, $0) }
        try ticket.wait(signals)
    }
}
