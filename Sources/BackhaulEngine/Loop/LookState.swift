/// The state of a check that reads from the store. A change during the check needs another check after it.
enum LookState {
    case idle
    case looking
    /// A check is under way, and another one follows it.
    case lookingAgain

    /// Returns false when a check is under way. Another one then follows it.
    mutating func begin() -> Bool {
        guard self == .idle else {
            self = .lookingAgain
            return false
        }
        self = .looking
        return true
    }

    mutating func lookAgain() { self = .lookingAgain }

    /// Returns true when the next check has to begin.
    mutating func end() -> Bool {
        defer { self = .idle }
        return self == .lookingAgain
    }
}
