import Backhaul
import BackhaulBus
import Glibc

/// Shows the transfers of a store on the desktop, until a signal arrives or the session bus ends.
final class DesktopObserver {
    /// The shortest time between two readings.
    private static let interval: Int64 = 1000

    private let context: Context
    private let bus: SessionBus
    private let changes: StoreChanges
    private let sessions: DesktopSessions
    private let notifier: Notifier<DesktopSubject>
    private let results: ResultNotifications
    private let jobViews: JobViews
    private let launcherEntry: LauncherEntry
    private var reading = DesktopReading()
    /// The challenges of each session of which the user has been notified.
    private var knownChallenges: [SessionKey: Set<ChallengeID>] = [:]

    /// - Parameters:
    ///   - store: The store's path without symbolic links.
    ///   - desktopEntry: The name of the desktop entry, without its ending.
    init(_ context: Context, store: String, desktopEntry: String) throws(CommandError) {
        self.context = context
        bus = try SessionBus()
        // A part of a name on the bus must not begin with a digit, and must not have a hyphen.
        try bus.own("backhaul.desktop." + desktopEntry.replacing("-", with: "_"))
        notifier = try Notifier(bus, desktopEntry: desktopEntry)
        results = ResultNotifications(context, notifier)
        jobViews = try JobViews(bus, desktopEntry: desktopEntry)
        launcherEntry = LauncherEntry(bus, desktopEntry: desktopEntry)
        changes = try StoreChanges(of: store)
        sessions = DesktopSessions(context, store: store)
    }

    func run() throws(CommandError) {
        // The time of the next reading. Nil while nothing runs: then a change of the store causes the next reading.
        var next: Int64? = Clock.milliseconds
        var earliest: Int64 = 0
        while true {
            if let time = next, Clock.milliseconds >= time {
                // A change during the reading causes another reading.
                _ = try changes.take()
                reading = try sessions.read()
                try show()
                earliest = Clock.milliseconds + DesktopObserver.interval
                next = reading.running > 0 ? earliest : nil
            }
            if try handleArrivals() { next = Clock.milliseconds }
            let awaited = [bus.awaited] + (next == nil ? [changes.awaited] : [])
            _ = try context.signals.wait(for: awaited, next.map { $0 - Clock.milliseconds })
            if next == nil, try changes.take() { next = earliest }
        }
    }

    private func show() throws(CommandError) {
        try results.add(reading.results)
        try showChallenges()
        try showProgress()
    }

    private func showChallenges() throws(CommandError) {
        for key in Set(knownChallenges.keys).union(reading.challenges.keys) {
            try show(reading.challenges[key] ?? [], of: key)
        }
    }

    private func showProgress() throws(CommandError) {
        try jobViews.show(reading.jobs)
        let isUrgent = !reading.challenges.isEmpty
        if jobViews.isAvailable {
            try launcherEntry.show(isUrgent: isUrgent)
        } else {
            try launcherEntry.show(reading, isUrgent: isUrgent)
        }
    }

    /// Notifies the user of new challenges, and corrects the notification when one of them is no longer open. Removes
    /// the notification when none is open any more. If the user has closed it, only a new challenge shows it again.
    private func show(_ challenges: [Challenge], of key: SessionKey) throws(CommandError) {
        let known = knownChallenges[key] ?? []
        let ids = Set(challenges.map(\.id))
        knownChallenges[key] = ids.isEmpty ? nil : ids
        guard let first = challenges.first else { return try notifier.close(.credential(key)) }
        if ids == known || ids.isSubset(of: known) && !notifier.isShown(.credential(key)) { return }
        let isOne = challenges.count == 1
        let words =
            isOne
            ? ["respond", "\(first.id)"] + first.advice.split(separator: " ").map { String($0) } : ["challenges"]
        let host = (first.isProxy ? "the proxy " : "") + Text.visible(TransferName.host(of: first.origin))
        let waiting = Text.count(Int(clamping: first.waitingTasks), "transfer waits", "transfers wait")
        let summary =
            isOne
            ? "A transfer needs \(DesktopObserver.need(of: first))" : "\(challenges.count) servers ask for credentials"
        try notifier.show(
            DesktopNotification(
                summary: summary,
                lines: [
                    isOne ? "\(waiting) for \(host)" : "", key.place(in: context), "Run: \(try command(words, key))",
                ],
                category: "network"),
            .credential(key))
    }

    /// A command for the session, ready to be typed.
    private func command(_ words: [String], _ key: SessionKey) throws(CommandError) -> String {
        var command = ""
        try context.withSession(key.name) { () throws(CommandError) in
            command = context.command(words: words, application: key.application)
        }
        return command
    }

    private static func need(of challenge: Challenge) -> String {
        if challenge.isRefresh { return challenge.taskID == nil ? "new headers" : "a new URL" }
        return challenge.takesPassword ? "a user name and a password" : challenge.takesToken ? "a token" : "a login"
    }

    /// Handles what has arrived from the bus.
    /// - Returns: Whether the store is to be read again.
    private func handleArrivals() throws(CommandError) -> Bool {
        var isChanged = false
        while let arrival = try bus.arrival() {
            switch arrival {
            case .changed(DesktopService.jobs, _):
                jobViews.forgetServer()
                try showProgress()
            case .changed(_, let ranBefore):
                if ranBefore {
                    // The notifications on the desktop have gone, so the next server shows them again. The user has
                    // closed the others.
                    knownChallenges = knownChallenges.filter { !notifier.isShown(.credential($0.key)) }
                    notifier.forgetServer()
                }
                if bus.isRunning(DesktopService.notifications) {
                    try results.showWaiting()
                    try showChallenges()
                }
            case .signal(let signal, let services):
                if services.contains(DesktopService.jobs), let (key, request) = jobViews.request(signal) {
                    try perform(request, key)
                    isChanged = true
                } else if services.contains(DesktopService.notifications),
                    let (subject, action) = notifier.handle(signal)
                {
                    try perform(action, subject)
                }
            }
        }
        return isChanged
    }

    private func perform(_ request: JobRequest, _ key: SessionKey) throws(CommandError) {
        do {
            try sessions.perform(request, key)
        } catch {
            guard case .failure(let failure) = error else { throw error }
            context.output.note(failure.message)
        }
    }

    /// Opens the folder of the last downloaded file in the desktop's file manager (File Manager D-Bus Interface).
    private func perform(_ action: String, _ subject: DesktopSubject) throws(CommandError) {
        guard action == ResultNotifications.showAction, let path = results.path(subject) else { return }
        let method = BusMethod(
            destination: DesktopService.fileManager, path: "/org/freedesktop/FileManager1",
            interface: DesktopService.fileManager, member: "ShowItems")
        try bus.send(
            method, [.strings([DesktopObserver.fileURL(of: path)]), .string("")], startsService: true)
    }

    static func fileURL(of path: String) -> String {
        path.utf8.reduce(into: "file://") { text, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789/-._~".unicodeScalars.contains(scalar))
            text += isPlain ? String(scalar) : "%" + Text.hexadecimal(byte, digits: 2)
        }
    }
}
