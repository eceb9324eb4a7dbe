internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the struct can be read until the call returns. All of it is copied here.

/// Reads `bh_session_configuration`. Fields that are not set get their defaults.
enum ConfigurationArgument {
    /// `identifier`: the identifier of an existing session, or nil for a new session. For an existing session, the
    /// struct may omit its identifier. If the struct has one, both identifiers must be equal.
    static func read(
        _ pointer: UnsafePointer<bh_session_configuration>?, of identifier: String? = nil
    ) throws(Failure) -> SessionConfiguration {
        var given = try StructArgument.read(
            NumberArgument.required(pointer, "configuration"), "configuration", into: bh_session_configuration(),
            minimumSize: FieldExchange.configurationSize)
        var configuration = SessionConfiguration(identifier: try self.identifier(given.identifier, of: identifier))
        try FieldExchange.read { (exchange) throws(Failure) in try exchange.fields(&given, &configuration) }
        try SessionCheck.check(configuration)
        return configuration
    }

    private static func identifier(_ pointer: UnsafePointer<CChar>?, of session: String?) throws(Failure) -> String {
        let name = "configuration.identifier"
        guard let session else { return try TextArgument.required(pointer, name, limit: Limits.identifierSize) }
        guard let given = try TextArgument.optional(pointer, name, limit: Limits.identifierSize) else { return session }
        // The identifiers are compared as bytes, because Swift's == treats canonically equivalent texts as equal.
        guard given.utf8.elementsEqual(session.utf8) else {
            throw Failure(
                .invalidArgument,
                "\(name) is \"\(given)\", but the session's is \"\(session)\" and stays; give that or NULL")
        }
        return session
    }
}
