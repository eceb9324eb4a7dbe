internal import BackhaulModel
internal import CBackhaul

// Unsafe: the items have pointers into the memory (the arena) of a batch, which is a list that the calling program
// gets. The pointers are valid until the program releases the batch.

extension bh_wait_record {
    init(_ wait: WaitRecord, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_wait_record>.size
        task_id = wait.task.rawValue
        reason = wait.reason.rawValue
        reason_text = arena.place(wait.sentence)
        began_ms = wait.beganMilliseconds
        ended_ms = wait.endedMilliseconds ?? 0
    }
}

extension bh_condition {
    init(_ condition: ConditionInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_condition>.size
        kind = condition.kind.rawValue
        is_known = condition.isKnown
        value = condition.value
        name = arena.place(condition.name)
        text = arena.place(condition.text)
        source = arena.place(condition.source)
        since_ms = condition.sinceMilliseconds
    }
}

extension bh_hold {
    init(_ info: HoldInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_hold>.size
        application = arena.place(info.application)
        session = arena.place(info.session)
        origin = arena.place(info.origin)
        reason = info.hold.reason.rawValue
        reason_text = arena.place(info.hold.sentence)
        began_ms = info.beganMilliseconds
        next_check_ms = info.hold.nextCheckMilliseconds ?? 0
        tasks = info.tasks
    }
}

extension bh_network {
    init(_ info: NetworkInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_network>.size
        name = arena.place(info.settings.name)
        metered = TriState.code(info.settings.isMetered)
        month_starts_on = UInt32(info.settings.monthStartsOn)
        budget = bh_budget(info.settings.budget)
        kind = info.kind?.rawValue ?? 0
        is_current = info.isCurrent
        used_today = info.usedToday
        used_this_month = info.usedThisMonth
        day_ends_ms = info.dayEndsMilliseconds
        month_ends_ms = info.monthEndsMilliseconds
    }
}

extension bh_activity {
    init(_ info: ActivityInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_activity>.size
        identifier = arena.place(info.identifier)
        interval_ms = info.intervalMilliseconds
        tolerance_ms = info.toleranceMilliseconds
        repeats = TriState.code(info.repeats)
        quality_of_service = info.qualityOfService.rawValue
        next_ms = info.nextMilliseconds
        next_ends_ms = info.nextMilliseconds.addingWithoutOverflow(info.toleranceMilliseconds)
        last_started_ms = info.lastStartedMilliseconds ?? 0
        last_task = info.lastTask?.rawValue ?? 0
        url = arena.place(info.url)
    }
}

extension Int64 {
    fileprivate func addingWithoutOverflow(_ count: UInt64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(Int64(clamping: count))
        return overflow ? .max : sum
    }
}

extension bh_budget {
    init(_ budget: ByteBudget) { self.init(daily: Self.field(budget.daily), monthly: Self.field(budget.monthly)) }

    private static func field(_ bytes: UInt64?) -> UInt64 {
        switch bytes {
        case nil: 0
        case 0: UInt64.max
        case let bytes?: bytes
        }
    }
}

extension bh_constraints {
    /// Writes the constraints as the program set them. A preset, which is a name for several constraints, is written as
    /// the preset and not as these constraints.
    init(_ constraints: Constraints, in arena: inout Arena) {
        self.init()
        var constraints = constraints
        FieldExchange.write(into: &arena) { (exchange) throws(Failure) in try exchange.fields(&self, &constraints) }
    }
}

/// The `bh_choice` for an optional Boolean.
enum TriState {
    static func code(_ value: Bool?) -> Int32 { Int32(value.map { $0 ? BH_YES : BH_NO } ?? BH_DEFAULT) }
}
