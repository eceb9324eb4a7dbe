import Backhaul
import enum BackhaulModel.RateLimitOwner

/// The advice for each reason why a transfer waits. Each command in the advice either ends the wait, or shows more
/// about the wait.
struct AdviceTable {
    let waitExplanation: WaitExplanation

    var reason: Reason? { waitExplanation.reason }
    var facts: WaitFacts { waitExplanation.facts }
    var it: String { waitExplanation.count == 1 ? "it" : "them" }
    var pronounWithVerb: String { waitExplanation.count == 1 ? "It was" : "They were" }

    func command(_ words: [String]) -> String { waitExplanation.command(words) }

    var advice: [Advice] {
        switch reason {
        case .slot: [Advice("Start \(it) before all others:", ofTransfers("priority", "now"))]
        case .suspended: [Advice("Let \(it) run:", ofTransfers("resume"))]
        case .retry:
            [
                Advice("Nothing has to be done. To retry immediately:", ofTransfers("resume")),
                Advice("See all attempts and their errors:", ofTransfers("attempts")),
            ]
        case .connecting:
            [
                Advice("If this lasts, check whether the server responds to others, and check your network."),
                Advice("See the earlier attempts:", ofTransfers("attempts")),
            ]
        case .stalled:
            [
                Advice(
                    "Nothing has to be done: the transfer is retried. If this repeats, check the server and the "
                        + "network."),
                Advice("See the earlier attempts:", ofTransfers("attempts")),
            ]
        case .disk: [Advice("Nothing has to be done: a slow disk takes a while.")]
        case .diskFull:
            [
                Advice(
                    "Free space or, if there are no free inodes, remove files on the file system of "
                        + (waitExplanation.one?.destination.map { Text.visible($0) }
                            ?? "the store or of the files' folder")
                        + "."),
                Advice("Then continue immediately:", ofTransfers("resume")),
            ]
        case .storage:
            [
                Advice("Mount the file system, or make the directory, that the sentence above names."),
                Advice("Retry immediately:", ofTransfers("resume")),
            ]
        case .credential: credential
        case .connectivity:
            [
                Advice("Connect this machine to a network that leads to the server."),
                Advice("Retry immediately:", ofTransfers("resume")),
            ]
        case .clock:
            [
                Advice("Set the clock of this machine, or let it be synchronised (timedatectl set-ntp true)."),
                Advice("Then continue immediately:", ofTransfers("resume")),
            ]
        case .origin:
            [
                Advice("Nothing has to be done. The server bans some clients that do not wait."),
                Advice("See all attempts and their errors:", ofTransfers("attempts")),
            ]
        case .dependency:
            [
                Advice("Nothing has to be done if the other transfer makes progress."),
                Advice("See why it has not ended:", command(["why"])),
            ]
        case .rate: rate
        default: conditionAdvice
        }
    }

    func ofTransfers(_ words: String..., options: [String] = []) -> String {
        command(words + waitExplanation.operands + options)
    }

    private var credential: [Advice] {
        guard let first = facts.challenges.first else {
            return [Advice("See which server asks:", command(["challenges"]))]
        }
        guard facts.challenges.count == 1 else {
            return [
                Advice("Several servers ask. See which:", command(["challenges"])),
                Advice(
                    "Respond to each by the number of its challenge, for example:",
                    command(["respond", "\(first.id)"]) + " " + first.advice),
            ]
        }
        let respond = command(["respond", "\(first.id)"]) + " " + first.advice
        let number = "\(first.id) is the number of \(first.isRefresh ? "this" : "the server's") challenge"
        var advice: [Advice] = []
        if first.isRefresh {
            advice.append(Advice("Respond (\(number)):", respond))
        } else if first.takesPassword {
            advice.append(
                Advice(
                    "Respond with your user name in place of NAME; then type the password (\(number)):",
                    respond))
        } else {
            advice.append(
                Advice("Respond with a file that has the header 'Authorization: Bearer TOKEN' (\(number)):", respond))
        }
        if first.sendsPasswordInClear {
            advice.append(
                Advice("Note that http does not encrypt: others on the network can read the password."))
        }
        advice.append(
            Advice(
                "Without a login: request one from the server's operator, or refuse; then the waiting transfers "
                    + "fail:",
                command(["respond", "\(first.id)", "--refuse"])))
        return advice
    }

    /// Advice to remove the limit that the engine's sentence names, or all limits if it names none.
    private var rate: [Advice] {
        let owner = RateLimitOwner(in: waitExplanation.text ?? "")
        let own = Advice("Remove the transfer's own limit:", ofTransfers("rate", "0"))
        if owner == .task { return [own] }
        var advice: [Advice] = []
        if owner != .engine, let rate = facts.requirements.bytesPerSecond {
            advice.append(
                Advice(
                    "Remove the limit of all transfers of the session, \(Text.size(rate)) a second:",
                    command(["configure", "--limit-rate", "0"])))
        }
        if owner != .session, let rate = facts.storeRate {
            advice.append(
                Advice(
                    "Remove the limit for all sessions together, \(Text.size(rate)) a second:",
                    command(["limits", "set", "--limit-rate", "0"])))
        }
        return advice.isEmpty ? [own] : advice
    }
}
