import CBackhaul

/// The constraints (demands on the system) and the limits of a session, a named collection of transfers. An explanation
/// names the constraint or limit that causes a wait.
@dynamicMemberLookup
struct SessionRequirements: Equatable {
    var constraints = ConstraintsRecord()
    var daily = Budget(0)
    var monthly = Budget(0)
    /// The rate limit in bytes per second. 0 means no limit.
    var rate: UInt64 = 0

    init() {}

    init(_ configuration: bh_session_configuration) {
        constraints = ConstraintsRecord(configuration.constraints)
        daily = Budget(configuration.budget.daily)
        monthly = Budget(configuration.budget.monthly)
        rate = configuration.bytes_per_second
    }

    subscript<Value>(dynamicMember member: WritableKeyPath<ConstraintsRecord, Value>) -> Value {
        get { constraints[keyPath: member] }
        set { constraints[keyPath: member] = newValue }
    }

    /// A phrase such as "the daily limit of session 'photos' is 0 B". Nil if the reason is not a budget (a limit on the
    /// bytes of a day or month) of 0 bytes.
    func zeroBudgetSentence(_ reason: Int32, _ facts: WaitFacts, session: String) -> String? {
        guard Int(reason) == BH_REASON_BUDGET else { return nil }
        let network = facts.network
        let name = Text.visible(network?.name ?? "")
        let limits = [
            (daily, "daily limit of session '\(Text.visible(session))'"),
            (monthly, "monthly limit of session '\(Text.visible(session))'"),
            (network?.daily ?? Budget(0), "daily limit of network '\(name)'"),
            (network?.monthly ?? Budget(0), "monthly limit of network '\(name)'"),
        ]
        return limits.first { $0.0.bytes == 0 }.map { "the \($0.1) is 0 B" }
    }
}
