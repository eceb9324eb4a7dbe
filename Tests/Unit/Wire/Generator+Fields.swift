import BackhaulModel

/// Fills records with generated values. A record passes each of its options to the generator.
extension Generator: FieldVisitor {
    typealias Problem = Never

    mutating func visit<Value>(_ value: inout Value, _ option: Option<Value>) { value = made() }

    mutating func visit<Value>(_ value: inout Value?, _ option: Option<Value>) { value = optional { $0.made() } }

    mutating func visit(_ headers: inout [HeaderField], _ name: String) { headers = list { $0.header() } }

    private mutating func made<Value: FieldValue>() -> Value {
        let content: FieldContent =
            switch Value.kind {
            case .number(bytes: 1): .integer(UInt64(integer(UInt8.self)))
            case .number(bytes: 2): .integer(UInt64(integer(UInt16.self)))
            case .number(bytes: 4), .bits: .integer(UInt64(integer(UInt32.self)))
            case .number: .integer(integer())
            case .flag: .integer(bool() ? 1 : 0)
            case .code: .integer(pick((0...255).filter { Value(.integer($0)) != nil }))
            case .text: .text(text(of: Value.self))
            }
        return Value(content)!
    }

    private mutating func text<Value>(of type: Value.Type) -> String {
        if type == StatusList.self { return statuses().text }
        if type == QuietHours.self { return quietHours().text }
        if type == Checksum.self { return checksum().text }
        return text()
    }
}
