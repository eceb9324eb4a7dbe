import Backhaul

/// Advice to change the constraint that causes a wait. The session, its transfers, or both may have the constraint.
extension AdviceTable {
    func change(_ anyway: String) -> [Advice] {
        let advice = sessionAdvice(anyway) + ofTransfers(anyway)
        return advice.isEmpty ? launchAdvice : advice
    }

    private func sessionAdvice(_ anyway: String) -> [Advice] {
        guard let asked = facts.origin(reason) else { return [] }
        return [
            Advice(
                "Session '\(Text.visible(waitExplanation.session))' asks for this "
                    + "(\(Text.visible(asked.text))). Let all its "
                    + "transfers \(anyway):",
                command(
                    ["configure"] + overridingOptions(to: facts.requirements.constraints, nothing: ["0", "all", ""])))
        ]
    }

    private func ofTransfers(_ anyway: String) -> [Advice] {
        let asking = waitExplanation.transfers.filter { $0.constraints.origin(reason, facts) != nil }
        guard let first = asking.first?.constraints, let asked = first.origin(reason, facts) else { return [] }
        let isOne = waitExplanation.count == 1
        // The advice is one command for all tasks with this constraint. If one of these tasks has a preset, the command
        // must override the preset.
        let stated = asking.map(\.constraints).first { $0.preset != nil } ?? first
        let numbers =
            waitExplanation.count <= waitExplanation.transfers.count
            ? asking.map { "\($0.id)" } : ["TASK..."]
        let who = isOne ? "It asks" : "They ask"
        return [
            Advice(
                "\(who) for this \(isOne ? "itself" : "themselves") (\(Text.visible(asked.text))). Let "
                    + "\(it) \(anyway.replacing("as they are", with: isOne ? "as it is" : "as they are"))\(kept):",
                command(
                    ["constrain"] + numbers
                        + overridingOptions(
                            to: stated, nothing: ["default", "default", "default"])))
        ]
    }

    /// Advice for a session with --discretionary-if-launched. The advice is about tasks that a program has enqueued
    /// after the engine had launched this program.
    private var launchAdvice: [Advice] {
        guard let reason, [.power, .metered, .heat, .throughput].contains(reason) else {
            return []
        }
        return [
            Advice(
                "\(pronounWithVerb) enqueued by a program that was launched "
                    + "(--discretionary-if-launched). Go on anyway"
                    + "\(kept):",
                ofTransfers("constrain", options: ["--none"]))
        ]
    }

    /// The options that remove only the constraint that causes the wait. If the constraint comes from a preset, the
    /// options override the preset.
    /// - Parameter nothing: The values that set no minimum, permit all networks, and set no quiet hours, in this order.
    private func overridingOptions(to stated: Constraints, nothing: [String]) -> [String] {
        let hasPreset = stated.preset != nil
        switch reason {
        case .power: return ["--external-power", "no"]
        case .metered: return ["--unmetered", "no"]
        case .heat: return ["--maximum-heat", "serious"]
        case .battery: return ["--minimum-battery", nothing[0]]
        case .pressure: return facts.exceeded(stated.pressures).flatMap { [$0.option, nothing[0]] }
        case .network: return ["--networks", nothing[1]]
        // If a preset is set, 0 would mean the minimum rate of the preset.
        case .throughput: return ["--minimum-rate", hasPreset ? "1" : nothing[0]]
        case .quietHours:
            let preset = stated.preset == .overnight ? ["--preset", "discretionary"] : []
            return preset + (stated.quietHours == nil ? [] : ["--quiet-hours", nothing[2]])
        default: return []
        }
    }

    private var kept: String {
        guard let one = waitExplanation.one else { return ", and the bytes so far are kept" }
        return TransferName(task: one).kept.map { ", and \($0) is kept" } ?? ""
    }
}
