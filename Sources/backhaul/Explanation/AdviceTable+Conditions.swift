import Backhaul

/// Advice about waits for a condition of the machine or for a time.
extension AdviceTable {
    var conditionAdvice: [Advice] {
        switch reason {
        case .power:
            [Advice("Plug the machine in.")] + change("run on battery, too")
        case .battery:
            [Advice("Plug the machine in.")] + change("use the battery to its end")
        case .heat:
            [Advice("Let the machine cool down: give it air, or end what keeps it busy (`top` shows it).")]
                + (facts.isCriticallyHot
                    ? [Advice("It is critically hot: nothing is transferred now, and no option changes that.")]
                    : change("run while the machine is hot, too"))
        case .pressure:
            [Advice("End or pause what keeps the machine busy; `top` shows it.")]
                + change("run anyway")
        case .sleep: [Advice("Nothing has to be done.")]
        case .metered: metered
        case .network:
            [Advice("Connect this machine to such a network.")] + change("use any network")
        case .throughput:
            [Advice("Nothing has to be done. A faster network helps.")] + change("be as slow as they are")
        case .quietHours:
            (waitExplanation.isStuck ? [] : [Advice("Nothing has to be done.")]) + change("run at any hour")
        case .earliestStart: earliestStart
        case .budget: budget
        case .portal:
            [
                Advice("Open any web page in a browser on this machine: a portal shows its login there."),
                Advice("If no login page appears, check the router or modem."),
                Advice("Retry immediately:", ofTransfers("resume")),
            ]
        default: []
        }
    }

    private var metered: [Advice] {
        var advice = [Advice("Connect this machine to an unmetered network.")]
        if let name = facts.networkName {
            let shown = Text.visible(name)
            let isConfigured = facts.condition(.metered)?.source == "configured"
            let who = isConfigured ? "`backhaul networks` has set \(shown) to metered. " : ""
            advice.append(
                Advice(
                    "\(who)If data costs nothing on \(shown), set it to unmetered; `--metered auto` undoes this:",
                    command(["networks", name, "--metered", "no"])))
        }
        return advice + change("use metered networks, too")
    }

    private var earliestStart: [Advice] {
        [
            Advice("Nothing has to be done."),
            Advice("Start \(it) now:", ofTransfers("reschedule", options: ["--earliest-start", "now"])),
        ]
    }

    private var budget: [Advice] {
        var advice: [Advice] = []
        let needed = waitExplanation.transfers.map { needs($0) }.max() ?? 0
        func limit(_ bytes: UInt64?, _ period: String, of whose: String, used: UInt64, _ words: [String]) {
            guard let bytes else { return }
            let larger = Budget.larger(than: bytes, used.addingReportingOverflow(needed).partialValue)
            let now = "now \(Text.size(bytes)) a \(period)\(used > 0 ? ", of which \(Text.size(used)) are used" : "")"
            if larger != "none" {
                advice.append(Advice("Give \(whose) a larger limit (\(now)), for example:", command(words + [larger])))
            }
            advice.append(Advice("Or no limit by the \(period):", command(words + ["none"])))
        }
        if !waitExplanation.isStuck {
            advice.append(Advice("Nothing has to be done. Each network has its own budget."))
        }
        if let network = facts.network {
            let whose = "the network \(Text.visible(network.name)), for all sessions together,"
            let words = ["networks", network.name]
            limit(network.budget.daily, "day", of: whose, used: network.usedToday, words + ["--daily-budget"])
            limit(network.budget.monthly, "month", of: whose, used: network.usedThisMonth, words + ["--monthly-budget"])
        }
        let whose = "all transfers of session '\(Text.visible(waitExplanation.session))' together"
        limit(facts.requirements.budget.daily, "day", of: whose, used: 0, ["configure", "--daily-budget"])
        limit(facts.requirements.budget.monthly, "month", of: whose, used: 0, ["configure", "--monthly-budget"])
        return advice
    }

    /// The number of bytes that a budget must permit, so that the task can run. If the request states an expected
    /// number of bytes, this is that number. Otherwise, it is the number of bytes that the task still has to move, or 0
    /// if that number is not known.
    private func needs(_ task: TaskInfo) -> UInt64 {
        let (received, sent) = (task.expectedBytesReceived ?? 0, task.expectedBytesSent ?? 0)
        let expected = received.addingReportingOverflow(sent).partialValue
        guard expected == 0, let total = task.total, total > task.done else { return expected }
        return total - task.done
    }
}
