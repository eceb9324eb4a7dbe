internal import BackhaulModel

/// Which sessions need attention and were not told yet.
struct Attention: Sendable {
    private struct Known {
        var newest = EventID.zero
        var told = EventID.zero
    }

    private var known: [String: Known] = [:]

    var untold: Set<String> { Set(known.filter { $0.value.newest > $0.value.told }.keys) }
    var hasUntold: Bool { known.values.contains { $0.newest > $0.told } }

    mutating func learn(_ identifier: String, newest: EventID) {
        let before = known[identifier]?.newest ?? .zero
        known[identifier, default: Known()].newest = max(before, newest)
    }

    mutating func tell(_ identifier: String, through id: EventID) {
        let before = known[identifier]?.told ?? .zero
        known[identifier, default: Known()].told = max(before, id)
    }

    /// A listing was handed out: what it shows counts as told.
    mutating func told(_ identifiers: Set<String>, _ infos: [SessionInfo]) {
        for info in infos where identifiers.contains(info.identifier) {
            tell(info.identifier, through: info.newestEvent)
        }
        for identifier in identifiers where !infos.contains(where: { $0.identifier == identifier }) {
            known[identifier] = nil
        }
    }
}
