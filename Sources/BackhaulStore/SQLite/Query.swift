/// The text of a statement. Its identity is the key under which the prepared statement is kept.
final class Query: Sendable {
    let text: String
    init(_ text: String) { self.text = text }
}
