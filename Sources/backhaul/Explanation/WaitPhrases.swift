import CBackhaul

/// The phrases for each reason why a task does not run: one row for each `BH_REASON_…`.
enum WaitPhrases {
    /// The words after "waits" and "waited", such as "for external power".
    static func waits(_ reason: Int32) -> String {
        switch Int(reason) {
        case BH_REASON_SLOT: "for a free slot"
        case BH_REASON_SUSPENDED: "until it is resumed"
        case BH_REASON_RETRY: "for its next attempt"
        case BH_REASON_CONNECTING: "for the server's response"
        case BH_REASON_STALLED: "for a server that sends nothing any more"
        case BH_REASON_FINISHING: "for the disk; all bytes are received"
        case BH_REASON_DISK_FULL: "for free disk space"
        case BH_REASON_CREDENTIAL: "for a login"
        case BH_REASON_CONNECTIVITY: "for a network"
        case BH_REASON_RATE: "because of a limit on bytes per second"
        case BH_REASON_POWER: "for external power"
        case BH_REASON_BATTERY: "for more charge in the battery"
        case BH_REASON_HEAT: "for the machine to cool down"
        case BH_REASON_PRESSURE: "for the machine to have less to do"
        case BH_REASON_METERED: "for an unmetered network"
        case BH_REASON_NETWORK: "for another kind of network"
        case BH_REASON_THROUGHPUT: "for a faster connection"
        case BH_REASON_EARLIEST_START: "for the time at which it is to start"
        case BH_REASON_QUIET_HOURS: "for the end of the quiet hours"
        case BH_REASON_BUDGET: "for room in a data limit"
        case BH_REASON_SLEEP: "for the machine to wake up"
        case BH_REASON_PORTAL: "for a connection to the internet"
        default: "for something that this version does not know"
        }
    }

    /// The conditions that are related to a reason, the most important first.
    static func conditions(_ reason: Int32) -> [Int] {
        switch Int(reason) {
        case BH_REASON_CONNECTIVITY, BH_REASON_PORTAL: [BH_CONDITION_CONNECTIVITY, BH_CONDITION_NETWORK]
        case BH_REASON_POWER: [BH_CONDITION_EXTERNAL_POWER]
        case BH_REASON_BATTERY: [BH_CONDITION_BATTERY, BH_CONDITION_EXTERNAL_POWER]
        case BH_REASON_HEAT: [BH_CONDITION_THERMAL_STATE]
        case BH_REASON_PRESSURE:
            [BH_CONDITION_CPU_PRESSURE, BH_CONDITION_IO_PRESSURE, BH_CONDITION_MEMORY_PRESSURE]
        case BH_REASON_METERED: [BH_CONDITION_METERED, BH_CONDITION_NETWORK]
        case BH_REASON_NETWORK, BH_REASON_BUDGET: [BH_CONDITION_NETWORK]
        case BH_REASON_SLEEP: [BH_CONDITION_SLEEP]
        default: []
        }
    }

    /// Whether the reason is a condition of the system, or a constraint (a demand on the system). Any other reason
    /// concerns only the task.
    static func isCondition(_ reason: Int32) -> Bool {
        Int(reason) >= BH_REASON_POWER || Int(reason) == BH_REASON_CONNECTIVITY
    }

    /// The time of the next attempt (run of the task) or of the next check, such as "next attempt in 40 s". Nil if the
    /// time is not known, or if the reason's sentence includes the time.
    static func next(_ task: TaskRecord) -> String? {
        guard task.nextAttempt > 0 else { return nil }
        switch Int(task.reason) {
        case BH_REASON_EARLIEST_START, BH_REASON_QUIET_HOURS, BH_REASON_BUDGET:
            return nil
        case BH_REASON_POWER, BH_REASON_BATTERY, BH_REASON_HEAT, BH_REASON_PRESSURE, BH_REASON_METERED,
            BH_REASON_NETWORK, BH_REASON_SLEEP:
            return "next check " + Text.time(until: task.nextAttempt)
        default: return "next attempt " + Text.time(until: task.nextAttempt)
        }
    }

    /// The words after "continues:" if the time is not known.
    static func continuation(_ reason: Int32, isRunning: Bool) -> String {
        switch Int(reason) {
        case BH_REASON_SLOT: "by itself, when another transfer ends"
        case BH_REASON_SUSPENDED: "after `backhaul resume`; the bytes so far are kept"
        case BH_REASON_RETRY: "by itself, with the next attempt"
        case BH_REASON_CONNECTING:
            "by itself, as soon as the server responds; after 60 seconds of silence (or --request-timeout) it is "
                + "retried"
        case BH_REASON_STALLED:
            "by itself, when bytes arrive again; after 60 seconds of silence (or --request-timeout) it is retried"
        case BH_REASON_FINISHING: "by itself, when the disk has written everything"
        case BH_REASON_DISK_FULL: "by itself, some time after there is space"
        case BH_REASON_CREDENTIAL: "by itself, as soon as a credential is given"
        case BH_REASON_CONNECTIVITY: "by itself, as soon as there is a network that leads to the server"
        case BH_REASON_RATE: "by itself all the time, as fast as the limit allows"
        case BH_REASON_POWER: "by itself, 10 seconds after the machine is plugged in"
        case BH_REASON_BATTERY: "by itself, when the battery has enough, or 10 seconds after the machine is plugged in"
        case BH_REASON_HEAT: "by itself, when the machine has been cool enough for 30 seconds"
        case BH_REASON_PRESSURE: "by itself, when the machine has had less to do for 30 seconds"
        case BH_REASON_METERED: "by itself, 10 seconds after the machine is on an unmetered network"
        case BH_REASON_NETWORK: "by itself, as soon as the machine is on such a network"
        case BH_REASON_THROUGHPUT: "by itself, as soon as the connection is fast enough"
        case BH_REASON_BUDGET: "by itself, when the budget has bytes left, or on another network"
        case BH_REASON_SLEEP: "by itself, when the machine is awake"
        case BH_REASON_PORTAL: "by itself, as soon as the internet is back"
        default: isRunning ? "by itself" : "by itself, as soon as that changes"
        }
    }
}
