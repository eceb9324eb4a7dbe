import Backhaul

typealias Reason = WaitingReason.Code

/// The phrases for each reason why a task does not run.
enum WaitPhrases {
    /// The words after "waits" and "waited", such as "for external power".
    static func waits(_ reason: Reason?) -> String {
        switch reason {
        case .slot: "for a free slot"
        case .suspended: "until it is resumed"
        case .retry: "for its next attempt"
        case .connecting: "for the server's response"
        case .stalled: "for a server that sends nothing any more"
        case .disk: "for the disk"
        case .diskFull: "for room on the file system"
        case .storage: "for its directory or file system"
        case .credential: "for a login"
        case .connectivity: "for a network"
        case .rate: "because of a limit on bytes per second"
        case .power: "for external power"
        case .battery: "for more charge in the battery"
        case .heat: "for the machine to cool down"
        case .pressure: "for the machine to have less to do"
        case .metered: "for an unmetered network"
        case .network: "for another kind of network"
        case .throughput: "for a faster connection"
        case .earliestStart: "for the time at which it is to start"
        case .quietHours: "for the end of the quiet hours"
        case .budget: "for room in a data limit"
        case .sleep: "for the machine to wake up"
        case .portal: "for a connection to the internet"
        case .clock: "for the clock of this machine"
        case .origin: "for the end of a pause that the server has asked for"
        case .dependency: "for the end of another transfer"
        default: "for something that this version does not know"
        }
    }

    /// The conditions that are related to a reason, the most important first.
    static func conditions(_ reason: Reason?) -> [Condition.Kind] {
        switch reason {
        case .connectivity, .portal: [.connectivity, .network]
        case .power: [.externalPower]
        case .battery: [.battery, .externalPower]
        case .heat: [.thermalState]
        case .pressure:
            [.cpuPressure, .ioPressure, .memoryPressure]
        case .metered: [.metered, .network]
        case .network, .budget: [.network]
        case .sleep: [.sleep]
        default: []
        }
    }

    /// Whether the reason is a condition of the system, or a constraint. Any other reason concerns only the task.
    static func isCondition(_ reason: Reason?) -> Bool { isConstraint(reason) || reason == .connectivity }

    /// The same without connectivity, which is also a failure of an attempt.
    static func isConstraint(_ reason: Reason?) -> Bool {
        reason.map { (Reason.power.rawValue...Reason.portal.rawValue).contains($0.rawValue) } ?? false
    }

    /// The time of the next attempt or of the next check, such as "next attempt in 40 s". Nil if the time is not known,
    /// or if the reason's sentence includes the time.
    static func next(_ task: TaskInfo) -> String? {
        guard let next = task.nextAttempt else { return nil }
        switch task.waitsFor {
        case .earliestStart, .quietHours, .budget:
            return nil
        case .power, .battery, .heat, .pressure, .metered,
            .network, .sleep:
            return "next check " + Text.time(until: next)
        default: return "next attempt " + Text.time(until: next)
        }
    }

    /// The words after "continues:" if the time is not known.
    static func continuation(_ reason: Reason?, isRunning: Bool) -> String {
        switch reason {
        case .slot: "by itself, when another transfer ends"
        case .suspended: "after `backhaul resume`; the bytes so far are kept"
        case .retry: "by itself, with the next attempt"
        case .connecting:
            "by itself, as soon as the server responds; after 60 seconds of silence (or --request-timeout) it is "
                + "retried"
        case .stalled:
            "by itself, when bytes arrive again; after 60 seconds of silence (or --request-timeout) it is retried"
        case .disk: "by itself, when the disk has done its work"
        case .diskFull: "by itself, some time after there is room"
        case .storage: "by itself, as soon as the file system is mounted and the directory is there"
        case .credential: "by itself, as soon as a credential is given"
        case .connectivity: "by itself, as soon as there is a network that leads to the server"
        case .rate: "by itself all the time, as fast as the limit allows"
        case .power: "by itself, 10 seconds after the machine is plugged in"
        case .battery: "by itself, when the battery has enough, or 10 seconds after the machine is plugged in"
        case .heat: "by itself, when the machine has been cool enough for 30 seconds"
        case .pressure: "by itself, when the machine has had less to do for 30 seconds"
        case .metered: "by itself, 10 seconds after the machine is on an unmetered network"
        case .network: "by itself, as soon as the machine is on such a network"
        case .throughput: "by itself, as soon as the connection is fast enough"
        case .budget: "by itself, when the budget has bytes left, or on another network"
        case .sleep: "by itself, when the machine is awake"
        case .portal: "by itself, as soon as the internet is back"
        case .clock: "by itself, when the clock is set"
        case .origin: "by itself, after the pause"
        case .dependency: "by itself, when the other transfer has succeeded"
        default: isRunning ? "by itself" : "by itself, as soon as that changes"
        }
    }
}
