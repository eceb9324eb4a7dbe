/// Whether the store is asked for something now. What changes meanwhile needs another look after it.
enum LookState {
    case idle
    case looking
    /// A look is under way, and another one follows it.
    case lookingAgain

    /// False when a look is under way: the next one follows it.
    mutating func begin() -> Bool {
        guard self == .idle else {
            self = .lookingAgain
            return false
        }
        self = .looking
        return true
    }

    mutating func lookAgain() { self = .lookingAgain }

    /// True when another look is to begin.
    mutating func end() -> Bool {
        defer { self = .idle }
        return self == .lookingAgain
    }
}
