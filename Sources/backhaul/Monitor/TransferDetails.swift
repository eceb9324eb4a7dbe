import Backhaul

/// The details of a transfer: what `info`, `why` and `attempts` show.
struct TransferDetails {
    private static let interval: Int64 = 2000

    private let context: Context
    private let application: Application
    private var key: RowKey?
    private var nextReading: Int64 = 0
    private var text: [String] = []

    init(_ context: Context, _ application: Application) {
        self.context = context
        self.application = application
    }

    /// The lines of the details, for a terminal of this width.
    mutating func lines(of key: RowKey, columns: Int) throws(CommandError) -> [String] {
        if key != self.key || Clock.milliseconds >= nextReading {
            self.key = key
            nextReading = Clock.milliseconds + TransferDetails.interval
            do {
                text = try read(key)
            } catch {
                guard case .failure(let failure) = error else { throw error }
                text = [failure.message]
            }
        }
        return text.flatMap { TransferDetails.broken($0, columns: columns) }
    }

    private func read(_ key: RowKey) throws(CommandError) -> [String] {
        var lines: [String] = []
        let application = try application.other(key.session.application)
        let context = context.of(application)
        try context.withSession(key.session.name) { () throws(CommandError) in
            let session = try application.attach(key.session.name, role: .observe)
            let task = try Info.find(key.id, session, context)
            let gathering = Gathering(context: context, application: application)
            let explanation = Explanation(
                task: task, session: key.session.name, waits: try session.run(.waits(key.id)),
                facts: try gathering.facts(task.hasEnded ? [] : [task.waitsFor], session, [task]),
                now: Clock.wallMilliseconds, command: gathering.command)
            let attempts = try session.run(.attempts(key.id))
            lines = Info.lines(task) + explanation.lines
            if attempts.isEmpty { return }
            lines.append(Attempts.header(nil))
            lines += attempts.map { Attempts.line($0, isLast: $0.number == attempts.last?.number, columns: nil) }
        }
        return lines
    }

    /// The text, divided into lines that fit the terminal, if possible between two words.
    static func broken(_ text: String, columns: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            var rest = ScreenText.drawable(String(line))
            var parts: [String] = []
            while Text.width(rest) > columns {
                let part = ScreenText.cut(rest, columns: max(2, columns))
                // The indentation of the line is no place between two words.
                let space = part.lastIndex(of: " ").flatMap { part[..<$0].allSatisfy { $0 == " " } ? nil : $0 }
                let end = space.map { String(part[...$0]) } ?? part
                parts.append(end)
                rest = String(rest.unicodeScalars.dropFirst(end.unicodeScalars.count))
            }
            return parts + [rest]
        }
    }
}
