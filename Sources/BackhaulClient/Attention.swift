internal import BackhaulModel

/// The sessions that need attention and have not been reported to the host yet.
struct Attention: Sendable {
    private struct Known {
        var newest = EventID.zero
        var told = EventID.zero
        /// Whether another handle waits for the session, and this has not been reported.
        var isAskedToYield = false

        var isUntold: Bool { newest > told || isAskedToYield }
    }

    private var known: [ExactText: Known] = [:]

    /// The sessions to report, as they were before the engine was asked for their present state.
    struct Untold: Sendable {
        /// The newest known event of each session, by identifier.
        fileprivate var newest: [ExactText: EventID]
        /// The sessions of these for which another handle waits.
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

    /// Marks the events after this one as not reported, because the host did not read them.
    mutating func takeBack(_ identifier: String, after id: EventID) {
        let name = ExactText(identifier)
        guard let told = known[name]?.told else { return }
        known[name]?.told = min(told, id)
    }

    /// A listing was handed out, so its content counts as reported. A handle may have begun to wait after it was made.
    mutating func told(_ untold: Untold, _ infos: [SessionInfo]) {
        var gone = untold.newest
        for info in infos {
            let name = ExactText(info.identifier)
            guard gone.removeValue(forKey: name) != nil else { continue }
            tell(info.identifier, through: info.newestEvent)
            if info.waitingConsumers > 0 || untold.asked.contains(name) { known[name]?.isAskedToYield = false }
        }
        for (name, newest) in gone {
            // A session that was created again after the listing has newer events, or a handle that waits for it.
            guard let now = known[name], now.newest == newest, !now.isAskedToYield || untold.asked.contains(name) else {
                continue
            }
            known[name] = nil
        }
    }
}
