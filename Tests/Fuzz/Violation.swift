/// A property of a parser that does not hold for an input.
struct Violation: Error, CustomStringConvertible {
    let description: String
}

func require(_ condition: Bool, _ description: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(description: description()) }
}

func requireEqual<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) throws(Violation) {
    try require(found == expected, "\(what): \(found) is not \(expected)")
}
