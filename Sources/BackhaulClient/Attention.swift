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

    private var known: [String: Known] = [:]

    /// What is to be told, before the engine is asked for its present state.
    struct Untold: Sendable {
        var identifiers: Set<String>
        /// Of these, sessions for which another handle waits.
        var asked: Set<String>
    }

    var untold: Untold {
        Untold(
            identifiers: Set(known.filter { $0.value.isUntold }.keys),
            asked: Set(known.filter { $0.value.isAskedToYield }.keys))
    }
    var hasUntold: Bool { known.values.contains { $0.isUntold } }

    mutating func learn(_ identifier: String, newest: EventID) {
        let before = known[identifier]?.newest ?? .zero
        known[identifier, default: Known()].newest = max(before, newest)
    }

    mutating func learnYield(_ identifier: String) { known[identifier, default: Known()].isAskedToYield = true }

    mutating func tell(_ identifier: String, through id: EventID) {
        let before = known[identifier]?.told ?? .zero
        known[identifier, default: Known()].told = max(before, id)
    }

    /// What was told after this one was not taken.
    mutating func takeBack(_ identifier: String, after id: EventID) {
        guard let told = known[identifier]?.told else { return }
        known[identifier]?.told = min(told, id)
    }

    /// A listing was handed out: what it shows counts as told. Somebody may have begun to wait after it was made.
    mutating func told(_ untold: Untold, _ infos: [SessionInfo]) {
        for info in infos where untold.identifiers.contains(info.identifier) {
            tell(info.identifier, through: info.newestEvent)
            if info.waitingConsumers > 0 || untold.asked.contains(info.identifier) {
                known[info.identifier]?.isAskedToYield = false
            }
        }
        for identifier in untold.identifiers where !infos.contains(where: { $0.identifier == identifier }) {
            known[identifier] = nil
        }
    }
}
