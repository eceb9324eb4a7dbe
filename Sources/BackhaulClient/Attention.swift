internal import BackhaulModel

/// The sessions that need attention and have not been reported to the host yet. A session needs *attention* if it has
/// new events, or if another handle waits for the right to read its events.
struct Attention: Sendable {
    private struct Status {
        var newest = EventID.zero
        var reported = EventID.zero
        /// Whether another handle waits for the right to read the session's events, and this wait was not reported to
        /// the host yet.
        var isYieldRequested = false

        var isUnreported: Bool { newest > reported || isYieldRequested }
    }

    private var known: [ByteString: Status] = [:]

    /// A copy of the sessions to report. It is made immediately before the client requests a listing of the sessions
    /// from the engine, which runs the tasks.
    struct Unreported: Sendable {
        /// The newest known event of each session, by identifier.
        fileprivate var newest: [ByteString: EventID]
        /// The sessions for which another handle waits.
        fileprivate var yieldRequested: Set<ByteString>

        func contains(_ identifier: String) -> Bool { newest[ByteString(identifier)] != nil }
    }

    var unreported: Unreported {
        let unreported = known.filter { $0.value.isUnreported }
        return Unreported(
            newest: unreported.mapValues(\.newest),
            yieldRequested: Set(unreported.filter { $0.value.isYieldRequested }.keys))
    }
    var hasUnreported: Bool { known.values.contains { $0.isUnreported } }

    /// Whether a session is unreported. The events of the sessions `polled` do not count, because polls of these
    /// sessions are under way, and will return the events.
    func hasUnreported(exceptEventsOf polled: Set<ByteString>) -> Bool {
        known.contains { name, status in
            status.isYieldRequested || status.isUnreported && !polled.contains(name)
        }
    }

    mutating func record(_ identifier: String, newest: EventID) {
        let name = ByteString(identifier)
        let before = known[name]?.newest ?? .zero
        known[name, default: Status()].newest = max(before, newest)
    }

    mutating func recordYieldRequest(_ identifier: String) {
        known[ByteString(identifier), default: Status()].isYieldRequested = true
    }

    mutating func report(_ identifier: String, through id: EventID) {
        let name = ByteString(identifier)
        let before = known[name]?.reported ?? .zero
        known[name, default: Status()].reported = max(before, id)
    }

    /// Marks the events after this event as not reported, because the host did not read them.
    mutating func unreport(_ identifier: String, after id: EventID) {
        let name = ByteString(identifier)
        guard let reported = known[name]?.reported else { return }
        known[name]?.reported = min(reported, id)
    }

    /// Notes that the host got a listing of the sessions. The content of the listing then counts as reported. If a
    /// handle began to wait after the listing was made, this wait is not reported yet.
    mutating func reported(_ unreported: Unreported, _ infos: [SessionInfo]) {
        var gone = unreported.newest
        for info in infos {
            let name = ByteString(info.identifier)
            guard let newest = gone.removeValue(forKey: name) else { continue }
            // If the session was removed and created again before the listing, the known event is of the removed
            // session, and is newer than all events of the new session.
            report(info.identifier, through: max(info.newestEvent, newest))
            if info.waitingConsumers > 0 || unreported.yieldRequested.contains(name) {
                known[name]?.isYieldRequested = false
            }
        }
        for (name, newest) in gone {
            // The listing does not have these sessions, so they were deleted. A session may have been created again
            // after the listing was made. Such a session has newer events, or a handle waits for it, so it stays known.
            guard let now = known[name], now.newest == newest,
                !now.isYieldRequested || unreported.yieldRequested.contains(name)
            else {
                continue
            }
            known[name] = nil
        }
    }
}
