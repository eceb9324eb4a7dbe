import CBackhaul

/// The settings that options can change in a session, a named collection of transfers.
struct SessionSettings {
    var identifier: String
    var options: SessionOptions
    /// The policy for all transfers of the session. Nil if the policy does not change.
    var policy: PolicyOptions?
    /// The headers for all requests of the session. Nil if the headers do not change.
    var headers: [(name: String, value: String)]?

    var hasChanges: Bool { options.isGiven || policy?.isGiven == true || headers != nil }

    /// - Parameter remembered: The session's stored configuration. Settings without a given option keep their stored
    ///   values.
    func configuration(
        _ arena: CStringArena, over remembered: bh_session_configuration?
    ) -> bh_session_configuration {
        var configuration = remembered ?? bh_session_configuration()
        configuration.struct_size = MemoryLayout<bh_session_configuration>.size
        configuration.identifier = arena.string(identifier)
        options.change(&configuration, arena, isNew: remembered == nil)
        policy?.change(&configuration, arena)
        if let headers {
            configuration.headers = arena.headers(headers)
            configuration.header_count = headers.count
        }
        return configuration
    }
}
