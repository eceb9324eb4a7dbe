internal import BackhaulModel
internal import BackhaulStore

/// The configurations of sessions that have tasks or are open in a client program. A session is a named collection of
/// tasks. Each engine has one object of this type.
final class SessionTable {
    private(set) var configurations: [SessionID: SessionConfiguration] = [:]

    subscript(_ session: SessionID) -> SessionConfiguration? { configurations[session] }

    var ids: Dictionary<SessionID, SessionConfiguration>.Keys { configurations.keys }

    /// Whether a session has its own budget (a limit of the bytes in a day or month).
    var hasBudgets: Bool { configurations.values.contains { $0.budget != ByteBudget() } }

    /// Returns true when the configuration changed.
    func set(_ configuration: SessionConfiguration, of session: SessionID) -> Bool {
        defer { configurations[session] = configuration }
        return configurations[session] != configuration
    }

    func forget(_ session: SessionID) { configurations[session] = nil }
}
