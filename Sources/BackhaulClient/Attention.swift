internal import BackhaulModel

/// Which sessions need attention and were not told yet.
struct Attention: Sendable {
    private struct Known {
        var newest = EventID.zero
        var told = EventID.zero
        /// Another handle waits for the session, and this was not told.
        var isAskedToYield = false

        var isUntold: Bool { newest > told || isAskedToYield }
    }

    private var known: [ExactText: Known] = [:]

    /// What is to be told, before the engine is asked for its present state.
    struct Untold: Sendable {
        /// By identifier, the newest event of which was known.
        fileprivate var newest: [ExactText: EventID]
        /// Of these, sessions for which another handle waits.
        fileprivate var asked: Set<ExactText>

        var isEmpty: Bool { newest.isEmpty }

        func contains(_ identifier: String) -> Bool { newest[ExactText(identifier)] != nil }
    }

    var untold: Untold {
        let untold = known.filter { $0.value.isUntold }
        return Untold(
            newest: untold.mapValues(\.newest), asked: Set(untold.filter { $0.value.isAskedToYield }.keys))
    }
    var hasUntold: Bool { known.values.contains { $0.isUntold } }

    mutating func learn(_ identifier: String, newest: EventID) {
        let name = ExactText(identifier)
        let before = known[name]?.newest ?? .zero
        known[name, default: Known()].newest = max(before, newest)
    }

    mutating func learnYield(_ identifier: String) {
        known[ExactText(identifier), default: Known()].isAskedToYield = true
    }

    mutating func tell(_ identifier: String, through id: EventID) {
        let name = ExactText(identifier)
        let before = known[name]?.told ?? .zero
        known[name, default: Known()].told = max(before, id)
    }

    /// What was told after this one was not taken.
    mutating func takeBack(_ identifier: String, after id: EventID) {
        let name = ExactText(identifier)
        guard let told = known[name]?.told else { return }
        known[name]?.told = min(told, id)
    }

    /// A listing was handed out: what it shows counts as told. Somebody may have begun to wait after it was made.
    mutating func told(_ untold: Untold, _ infos: [SessionInfo]) {
        var gone = untold.newest
        for info in infos {
            let name = ExactText(info.identifier)
            guard gone.removeValue(forKey: name) != nil else { continue }
            tell(info.identifier, through: info.newestEvent)
            if info.waitingConsumers > 0 || untold.asked.contains(name) { known[name]?.isAskedToYield = false }
        }
        for (name, newest) in gone {
            // One that was made anew after the listing has newer events, or somebody who waits for it.
            guard let now = known[name], now.newest == newest, !now.isAskedToYield || untold.asked.contains(name) else {
                continue
            }
            known[name] = nil
        }
    }
}
