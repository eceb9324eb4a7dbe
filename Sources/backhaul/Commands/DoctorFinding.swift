/// One line in the output of `backhaul doctor`.
struct Finding {
    enum Level: String {
        case ok, warning, error
    }

    let level: Level
    let subject: String
    let text: String
    /// A sentence that states what to do.
    let advice: String?

    static func ok(_ subject: String, _ text: String) -> Finding {
        Finding(level: .ok, subject: subject, text: text, advice: nil)
    }

    static func warning(_ subject: String, _ text: String, _ advice: String? = nil) -> Finding {
        Finding(level: .warning, subject: subject, text: text, advice: advice)
    }

    static func error(_ subject: String, _ text: String, _ advice: String? = nil) -> Finding {
        Finding(level: .error, subject: subject, text: text, advice: advice)
    }

    var line: String {
        Text.padded(level.rawValue, columns: 9) + Text.padded(subject, columns: 11)
            + Text.visible(advice.map { "\(text). \($0)" } ?? text)
    }

    var json: JSON {
        .object([
            ("subject", .string(subject)), ("level", .string(level.rawValue)), ("text", .string(text)),
            ("advice", .optional(advice)),
        ])
    }
}
