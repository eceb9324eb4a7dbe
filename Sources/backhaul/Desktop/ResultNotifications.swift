import Backhaul

/// What a notification is about.
enum DesktopSubject: Hashable {
    case result(SessionKey)
    /// The results of many sessions.
    case results
    case credential(SessionKey)
}

/// The notifications about results. Each session has one, which later results of the session replace. If too many
/// sessions have results, one notification has the results of all of them.
final class ResultNotifications {
    static let showAction = "show"
    /// The most sessions that have a notification each.
    private static let mostSessions = 3

    private let context: Context
    private let notifier: Notifier<DesktopSubject>
    /// The results in the notifications that are on the desktop, and those that no server has shown yet.
    private var results: [SessionKey: RoundResult] = [:]
    /// The sessions with a result that no server has shown yet.
    private var waiting: Set<SessionKey> = []
    /// Whether one notification has all results.
    private var isJoined = false

    init(_ context: Context, _ notifier: Notifier<DesktopSubject>) {
        self.context = context
        self.notifier = notifier
    }

    /// Adds the results of rounds that have ended, and shows them. If a notification of the session is still on the
    /// desktop, the new one replaces it, and has its counts, too.
    func add(_ new: [SessionKey: RoundResult]) throws(CommandError) {
        if new.isEmpty { return }
        forgetClosed()
        for (key, result) in new { results[key, default: RoundResult()].add(result) }
        waiting.formUnion(new.keys)
        try show()
    }

    /// Shows the results that no server has shown yet. Call it when a server has started.
    func showWaiting() throws(CommandError) {
        if waiting.isEmpty { return }
        forgetClosed()
        try show()
    }

    /// The path of the last file in the notification.
    func path(_ subject: DesktopSubject) -> String? {
        switch subject {
        case .result(let key): results[key]?.path
        case .results: sum.path
        case .credential: nil
        }
    }

    /// Forgets the results in notifications that are no longer on the desktop.
    private func forgetClosed() {
        if isJoined, !notifier.isShown(.results) { isJoined = false }
        results = results.filter { key, _ in
            waiting.contains(key) || isJoined || notifier.isShown(.result(key))
        }
    }

    private var sum: RoundResult {
        var sum = RoundResult()
        for (_, result) in results.sorted(by: { $0.key < $1.key }) { sum.add(result) }
        return sum
    }

    private func show() throws(CommandError) {
        if isJoined || results.count > ResultNotifications.mostSessions { return try showJoined() }
        for key in waiting.sorted() {
            guard let result = results[key] else { continue }
            try show(result, place: key.place(in: context), .result(key))
            if notifier.isShown(.result(key)) { waiting.remove(key) }
        }
    }

    private func showJoined() throws(CommandError) {
        let place = results.count == 1 ? "" : "\(results.count) sessions"
        try show(sum, place: place, .results)
        isJoined = notifier.isShown(.results)
        if !isJoined { return }
        waiting = []
        for key in results.keys { try notifier.close(.result(key)) }
    }

    private func show(_ result: RoundResult, place: String, _ subject: DesktopSubject) throws(CommandError) {
        var notification = DesktopNotification(
            summary: result.counts, lines: result.details + [place],
            category: result.failures > 0 ? "transfer.error" : "transfer.complete")
        if result.path != nil {
            notification.actions = [(ResultNotifications.showAction, "Show in folder")]
        }
        try notifier.show(notification, subject)
    }
}
