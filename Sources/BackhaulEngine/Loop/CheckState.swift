/// The state of a check that reads from the store. If there is a change during the check, another check follows.
enum CheckState {
    case idle
    case checking
    /// A check is under way, and another check follows it.
    case checkingAgain

    /// Returns false when a check is under way. Another check then follows it.
    mutating func begin() -> Bool {
        guard self == .idle else {
            self = .checkingAgain
            return false
        }
        self = .checking
        return true
    }

    mutating func checkAgain() { self = .checkingAgain }

    /// Returns true when the next check has to begin.
    mutating func end() -> Bool {
        defer { self = .idle }
        return self == .checkingAgain
    }
}
