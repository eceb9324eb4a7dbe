import CBackhaul

/// One thing that a person can do about a wait.
struct Advice: Equatable {
    /// A sentence; before a command it ends with a colon.
    let text: String
    /// As it can be typed.
    let command: String?

    init(_ text: String, _ command: String? = nil) {
        self.text = text
        self.command = command
    }

    var json: JSON { .object([("text", .string(text)), ("command", .optional(command))]) }
}

/// What is known of waits beyond the rows of their transfers.
struct WaitFacts {
    var requirements = SessionRequirements()
    var conditions: [ConditionRecord] = []
    var networks: [NetworkRecord] = []
    var challenges: [ChallengeRecord] = []
    /// The last tries of transfers that have failed and are tried again, by the numbers of the transfers.
    var lastTries: [UInt64: AttemptRecord] = [:]
    /// Bytes per second of the whole store; 0: no limit.
    var storeRate: UInt64 = 0

    func condition(_ kind: Int) -> ConditionRecord? { conditions.first { Int($0.kind) == kind } }

    /// Those of them that are reached now; all when none is, as at the moment of a change.
    func exceeded(_ pressures: [ConstraintsRecord.Pressure]) -> [ConstraintsRecord.Pressure] {
        let reached = pressures.filter { pressure in
            // What is held goes on at half of a small limit, and five points below another.
            let goesOn = max(Int64(pressure.percent) - 5, Int64(pressure.percent) / 2)
            return condition(pressure.condition).map { $0.isKnown && $0.value > goesOn } ?? false
        }
        return reached.isEmpty ? pressures : reached
    }

    /// Which of the session's demands asks.
    func origin(_ reason: Int32) -> ConstraintsRecord.Origin? { requirements.constraints.origin(reason, self) }

    var network: NetworkRecord? { networks.first { $0.isCurrent } }

    var networkName: String? { condition(BH_CONDITION_NETWORK)?.name ?? network?.name }

    var isCriticallyHot: Bool {
        condition(BH_CONDITION_THERMAL_STATE).map { $0.isKnown && Int($0.value) == BH_THERMAL_CRITICAL } ?? false
    }
}
