import Backhaul

/// One action by which the user can end the wait of a transfer.
struct Advice: Equatable {
    /// A sentence. If a command follows, the sentence ends with a colon.
    let text: String
    /// The command, ready to be typed.
    let command: String?

    init(_ text: String, _ command: String? = nil) {
        self.text = text
        self.command = command
    }

    var json: JSON { .object([("text", .string(text)), ("command", .optional(command))]) }
}

/// Data that the explanations need, and that the records of the waiting tasks do not contain.
struct WaitFacts {
    var requirements = SessionConfiguration(identifier: "")
    var conditions: [Condition] = []
    var networks: [Network] = []
    var challenges: [Challenge] = []
    /// The last failed attempt of each task that waits for its next attempt. The key is the task's number.
    var lastAttempts: [TaskID: Attempt] = [:]
    /// The limit for all sessions together, in bytes per second. Nil means no limit.
    var storeRate: UInt64?

    func condition(_ kind: Condition.Kind) -> Condition? { conditions.first { $0.kind == kind } }

    /// The limits of pressure that are exceeded now. *Pressure* is the share of time in which processes wait for a
    /// processor, a disk or memory. If the pressure has just fallen and no limit is exceeded, returns all limits.
    func exceeded(_ pressures: [Constraints.Pressure]) -> [Constraints.Pressure] {
        let reached = pressures.filter { pressure in
            // The hysteresis: tasks are released five percentage points below the limit. If the limit is less than ten
            // percent, tasks are released at half of the limit.
            let releaseLimit = max(Int64(pressure.percent) - 5, Int64(pressure.percent) / 2)
            return condition(pressure.condition)?.value.map { $0 > releaseLimit } ?? false
        }
        return reached.isEmpty ? pressures : reached
    }

    /// The option of the session that causes a wait for this reason. The option may be a preset, which is a name for
    /// several demands on the system.
    func origin(_ reason: Reason?) -> Constraints.Origin? { requirements.constraints.origin(reason, self) }

    var network: Network? { networks.first { $0.isCurrent } }

    var networkName: String? { condition(.network)?.name ?? network?.name }

    var isCriticallyHot: Bool {
        condition(.thermalState)?.value == Int64(ThermalState.critical.rawValue)
    }
}
