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

    var untold: Set<String> { Set(known.filter { $0.value.isUntold }.keys) }
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

    /// A listing was handed out: what it shows counts as told.
    mutating func told(_ identifiers: Set<String>, _ infos: [SessionInfo]) {
        for info in infos where identifiers.contains(info.identifier) {
            tell(info.identifier, through: info.newestEvent)
            known[info.identifier]?.isAskedToYield = false
        }
        for identifier in identifiers where !infos.contains(where: { $0.identifier == identifier }) {
            known[identifier] = nil
        }
    }
}
