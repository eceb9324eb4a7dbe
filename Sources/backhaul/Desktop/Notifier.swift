import BackhaulBus

/// A notification for the user (Desktop Notifications Specification, version 1.2). The summary is plain text, and so
/// are the lines.
struct DesktopNotification {
    var summary: String
    var lines: [String]
    var category: String
    /// The word and the label of an action that the user can choose.
    var actions: [(word: String, label: String)] = []
}

/// The notification server of the desktop. Each subject has at most one notification, which later ones replace.
final class Notifier<Subject: Hashable> {
    private let bus: SessionBus
    private let desktopEntry: String
    /// What the server can do. Nil before the first notification.
    private var capabilities: Set<String>?
    private var numbers: [Subject: UInt32] = [:]

    init(_ bus: SessionBus, desktopEntry: String) throws(CommandError) {
        self.bus = bus
        self.desktopEntry = desktopEntry
        try bus.follow(DesktopService.notifications)
    }

    /// Whether the notification of the subject is on the desktop, as far as the server has reported.
    func isShown(_ subject: Subject) -> Bool { numbers[subject] != nil }

    func show(_ notification: DesktopNotification, _ subject: Subject) throws(CommandError) {
        guard let capabilities = try readCapabilities() else { return }
        let lines = notification.lines.filter { !$0.isEmpty }
        var body = lines.joined(separator: "\n")
        if capabilities.contains("body-markup") { body = Notifier.escaped(body) }
        var summary = notification.summary
        if !capabilities.contains("body") {
            summary = ([summary] + lines).joined(separator: ": ")
            body = ""
        }
        let actions = capabilities.contains("actions") ? notification.actions.flatMap { [$0.word, $0.label] } : []
        let hints: [(String, BusValue)] = [
            ("desktop-entry", .string(desktopEntry)), ("category", .string(notification.category)),
            // The urgency "normal".
            ("urgency", .byte(1)),
        ]
        let reply = try bus.call(
            .notifications("Notify"),
            [
                .string(DesktopService.name), .uint32(numbers[subject] ?? 0), .string(DesktopService.icon),
                .string(summary), .string(body), .strings(actions), .properties(hints), .int32(-1),
            ])
        numbers[subject] = try reply.map { reply throws(CommandError) in
            try bus.reading(reply) { (message) throws(BusError) in try message.readUInt32() }
        }
    }

    func close(_ subject: Subject) throws(CommandError) {
        guard let number = numbers.removeValue(forKey: subject) else { return }
        try bus.send(.notifications("CloseNotification"), [.uint32(number)])
    }

    /// Takes over a signal of the server.
    /// - Returns: The subject whose action the user has chosen, and the word of the action.
    func handle(_ signal: BusMessage) -> (subject: Subject, action: String)? {
        let isChoice = signal.isSignal("ActionInvoked", of: DesktopService.notifications)
        guard isChoice || signal.isSignal("NotificationClosed", of: DesktopService.notifications),
            let number = try? signal.readUInt32(),
            let subject = numbers.first(where: { $0.value == number })?.key
        else { return nil }
        if isChoice { return (try? signal.readString()).map { (subject, $0) } }
        numbers[subject] = nil
        return nil
    }

    /// The server has ended. A new server knows no earlier notification.
    func forgetServer() {
        capabilities = nil
        numbers = [:]
    }

    /// The bus starts the server here if it does not run.
    private func readCapabilities() throws(CommandError) -> Set<String>? {
        if capabilities == nil {
            let reply = try bus.call(.notifications("GetCapabilities"), [], startsService: true)
            capabilities = reply.flatMap { reply in (try? reply.readStrings()).map { Set($0) } }
        }
        return capabilities
    }

    /// The text, in which the server finds no markup.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
