internal import BackhaulModel

/// What the library declares about an option of a session: its default and its range. The help states the default, and
/// the command refuses values outside the range.
struct OptionDeclaration: Sendable {
    /// Whether the policy of one transfer has the option, too.
    var isOfTransfer = false
    /// The largest permitted number.
    var maximum = UInt64.max
    /// The default, if it is a number, a constant or a set of bits.
    var number: UInt64?
    /// The default, if it is a text.
    var text: String?

    var hasDefault: Bool { number != nil || text != nil }

    /// The options by their paths in the structs of the C header, such as `retry.jitter_percent`.
    static let all: [String: OptionDeclaration] = {
        var session = Lister()
        var configuration = SessionConfiguration(identifier: "")
        configuration.visitFields(with: &session)
        var transfer = Lister()
        var policy = TaskPolicy()
        policy.visitFields(with: &transfer)
        policy.constraints.visitFields(with: &transfer)
        for field in transfer.options.keys { session.options[field]?.isOfTransfer = true }
        return session.options
    }()

    private struct Lister: FieldVisitor {
        typealias Problem = Never

        var options: [String: OptionDeclaration] = [:]

        mutating func visit<Value>(_ value: inout Value, _ option: Option<Value>) {
            var optional: Value? = value
            visit(&optional, option)
        }

        mutating func visit<Value>(_ value: inout Value?, _ option: Option<Value>) {
            var declaration = OptionDeclaration()
            if let range = option.range { declaration.maximum = range.upperBound }
            switch value?.content {
            case .integer(let number)?: declaration.number = number
            case .text(let text)?: declaration.text = text
            case nil: break
            }
            options[option.name] = declaration
        }

        func visit(_ headers: inout [HeaderField], _ name: String) {}
    }
}
