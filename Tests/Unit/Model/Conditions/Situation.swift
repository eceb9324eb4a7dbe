import BackhaulModel

/// One row of the table of decisions. A decision says whether a task must wait. The row has the constraints of the
/// session and the task, the conditions of the system, and other facts.
struct Situation {
    var session = Constraints()
    var task = TaskConstraints()
    var conditions = Conditions()
    var isLocal = false
    var needsNoUplink = false
    var isUplinkProven = false
    var held: Set<WaitReason> = []
    var budgets: [BudgetUsage] = []
    /// The current time: Friday, 20 November 2026, 21:40 in Berlin.
    var now: Int64 = 1_795_207_200_000

    init(_ change: (inout Situation) -> Void = { _ in }) { change(&self) }

    var effective: EffectiveConstraints { EffectiveConstraints(session: session, task: task) }

    var facts: DeferralFacts {
        DeferralFacts(
            now: now, bootMilliseconds: 1_000, localOffsetMilliseconds: Berlin.offset, isLocal: isLocal,
            needsNoUplink: needsNoUplink, isUplinkProven: isUplinkProven, held: held, budgets: budgets)
    }

    var holds: [Hold] { DeferralDecision.holds(effective, conditions, facts) }
    var reasons: [WaitReason] { holds.map(\.reason) }
    var sentences: [String] { holds.map(\.sentence) }
}

/// The time zone Europe/Berlin from November 2025 to March 2027, as in tzdata.
enum Berlin {
    static let winter: Int64 = 3_600_000
    static let summer: Int64 = 7_200_000
    /// Sunday, 29 March 2026, when 02:00 becomes 03:00.
    static let spring: Int64 = 1_774_746_000_000
    /// Sunday, 25 October 2026, when 03:00 becomes 02:00.
    static let autumn: Int64 = 1_792_890_000_000

    static func offset(_ unix: Int64) -> Int64 { unix >= spring && unix < autumn ? summer : winter }
}

extension Constraints {
    init(_ preset: ConstraintPreset? = nil, _ change: (inout Constraints) -> Void = { _ in }) {
        self.init()
        self.preset = preset
        change(&self)
    }
}

extension Conditions {
    /// The conditions of a laptop on battery that uses the metered hotspot of a phone.
    static let onTheRoad: Conditions = {
        var conditions = Conditions()
        conditions.externalPower = Reading(false, source: "/sys/class/power_supply/AC")
        conditions.batteryPercent = Reading(63, source: "/sys/class/power_supply/BAT0")
        conditions.network = Reading(Network(name: "Hotspot", kind: .wifi), source: "NetworkManager")
        conditions.isMetered = Reading(true, source: "NetworkManager")
        return conditions
    }()
}
