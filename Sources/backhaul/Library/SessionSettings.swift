import CBackhaul

/// The settings that options can change in a session, a named collection of transfers.
struct SessionSettings {
    var identifier: String
    /// The session whose settings the options change, if the identifier is the name of a variant (`SessionVariant`).
    var base: String?
    /// The options for settings that only a session has. Nil if these settings do not change.
    var options: SessionOptions?
    /// The policy for all transfers of the session. Nil if the policy does not change.
    var policy: PolicyOptions?
    /// The headers for all requests of the session. Nil if the headers do not change.
    var headers: [(name: String, value: String)]?
    /// Whether settings without a given option get their defaults. If not, they keep their stored values.
    var resetsAll = false

    var hasChanges: Bool { options?.isGiven == true || policy?.isGiven == true || headers != nil || resetsAll }

    /// - Parameter stored: The stored configuration of the session, or of the variant's session.
    func configuration(_ arena: CStringArena, over stored: bh_session_configuration?) -> bh_session_configuration {
        var configuration = (resetsAll ? nil : stored) ?? SessionSettings.defaults
        configuration.struct_size = MemoryLayout<bh_session_configuration>.size
        configuration.identifier = arena.string(identifier)
        options?.change(&configuration, arena)
        policy?.change(&configuration, arena)
        if let headers {
            configuration.headers = arena.headers(headers)
            configuration.header_count = headers.count
        }
        return configuration
    }

    /// The configuration of a new session. It asks for credentials, because a user can give one.
    private static var defaults: bh_session_configuration {
        var configuration = bh_session_configuration()
        configuration.asks_for_credentials = Int32(BH_YES)
        return configuration
    }
}
