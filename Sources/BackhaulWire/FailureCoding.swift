internal import BackhaulModel

// Writes and reads a failure, which is an error code with a text. A failure is part of `goodbye`, the last message that
// the engine sends on a connection. `goodbye` has the same form in all protocol versions, so the form of a failure
// never changes.
extension Failure: WireRecord {
    static var blank: Failure { Failure(.internal, "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        // A newer engine may send codes that this library does not know. These codes become `.internal` and `.none`.
        // The message is still useful.
        try coder.code(&status, orElse: .internal)
        try coder.code(&domain, orElse: .none)
        try coder.field(&detail)
        try coder.field(&message)
        try coder.field(&index)
    }
}
