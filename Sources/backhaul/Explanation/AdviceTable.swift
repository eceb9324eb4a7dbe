import CBackhaul

/// What to do about each reason. Every command in it is one that takes the wait away, or shows more.
struct AdviceTable {
    let waitExplanation: WaitExplanation

    var reason: Int32 { waitExplanation.reason }
    var facts: WaitFacts { waitExplanation.facts }
    var it: String { waitExplanation.count == 1 ? "it" : "them" }
    var pronounWithVerb: String { waitExplanation.count == 1 ? "It was" : "They were" }

    func command(_ words: [String]) -> String { waitExplanation.command(words) }

    var advice: [Advice] {
        switch Int(reason) {
        case BH_REASON_SLOT: [Advice("Start \(it) before all others:", ofTransfers("priority", "now"))]
        case BH_REASON_SUSPENDED: [Advice("Let \(it) run:", ofTransfers("resume"))]
        case BH_REASON_RETRY:
            [
                Advice("Nothing has to be done. Try at once all the same:", ofTransfers("resume")),
                Advice("See all tries, and what went wrong each time:", ofTransfers("attempts")),
            ]
        case BH_REASON_CONNECTING:
            [
                Advice("If that lasts, look whether the server answers others, and at this machine's network."),
                Advice("See how earlier tries went:", ofTransfers("attempts")),
            ]
        case BH_REASON_STALLED:
            [
                Advice(
                    "Nothing has to be done: it is tried again by itself. If that repeats, look at the server or the "
                        + "network."),
                Advice("See how earlier tries went:", ofTransfers("attempts")),
            ]
        case BH_REASON_FINISHING: [Advice("Nothing has to be done: a slow disk takes a while.")]
        case BH_REASON_DISK_FULL:
            [
                Advice(
                    "Make room on the file system of "
                        + (waitExplanation.one?.destination.map { Text.visible($0) }
                            ?? "the store or of the files' folder")
                        + "."),
                Advice("Go on at once after that:", ofTransfers("resume")),
            ]
        case BH_REASON_CREDENTIAL: credential
        case BH_REASON_CONNECTIVITY:
            [
                Advice("Connect this machine to a network that leads to the server."),
                Advice("Try at once all the same:", ofTransfers("resume")),
            ]
        case BH_REASON_RATE: rate
        default: conditionAdvice
        }
    }

    func ofTransfers(_ words: String..., options: [String] = []) -> String {
        command(words + waitExplanation.operands + options)
    }

    private var credential: [Advice] {
        guard let first = facts.challenges.first else { return [Advice("See who asks:", command(["challenges"]))] }
        guard facts.challenges.count == 1 else {
            return [
                Advice("Several servers ask. See which:", command(["challenges"])),
                Advice(
                    "Answer each by the number of its question, for example:",
                    command(["respond", String(first.id)]) + " " + first.advice),
            ]
        }
        let answer = command(["respond", String(first.id)]) + " " + first.advice
        let number = "\(first.id) is the number of \(first.isRefresh ? "this" : "the server's") question"
        var advice: [Advice] = []
        if first.isRefresh {
            advice.append(Advice("Answer (\(number)):", answer))
        } else if first.takesPassword {
            advice.append(
                Advice(
                    "Answer with your user name there in place of NAME; the password is asked for then (\(number)):",
                    answer))
        } else {
            advice.append(
                Advice("Answer with a file that holds the header 'Authorization: Bearer TOKEN' (\(number)):", answer))
        }
        if first.sendsPasswordInClear {
            advice.append(
                Advice("Mind that http does not encrypt: whoever is on the way to the server can read the password."))
        }
        advice.append(
            Advice(
                "Without a login: ask whoever runs the server for one, or give up; what waits for it ends with an "
                    + "error then:",
                command(["respond", String(first.id), "--refuse"])))
        return advice
    }

    private var rate: [Advice] {
        var advice: [Advice] = []
        if facts.requirements.rate > 0 {
            advice.append(
                Advice(
                    "Lift the limit of all transfers of the session, \(Text.size(facts.requirements.rate)) a second:",
                    command(["configure", "--limit-rate", "0"])))
        }
        if facts.storeRate > 0 {
            advice.append(
                Advice(
                    "Lift the limit of all sessions together, \(Text.size(facts.storeRate)) a second:",
                    command(["limits", "set", "--limit-rate", "0"])))
        }
        return advice.isEmpty ? [Advice("Lift its own limit:", ofTransfers("rate", "0"))] : advice
    }
}
