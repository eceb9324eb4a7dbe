internal import BackhaulModel
internal import CPostgreSQL

/// The address of a fleet's database: a connection URI of libpq. It never contains a password, so it may appear in
/// messages and logs.
public struct DatabaseAddress: Equatable, Sendable {
    public let text: String

    /// The parameters of libpq whose values are secrets. Some of them are new in libpq 18.
    private static let secrets = [
        "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key",
    ]

    /// Checks the address with libpq. The messages do not repeat the address: it may contain a password.
    public init(_ text: String) throws(FleetError) {
        let library = try PostgreSQLLibrary.functions()
        // Unsafe: libpq returns a list that ends with an option without a keyword. The list is freed here.
        guard let options = library.conninfoParse(text, nil) else {
            throw FleetError(
                .invalidArgument, "the store's address is no connection URI of PostgreSQL; correct its form")
        }
        defer { library.conninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            let hasValue = option.pointee.val.map { $0.pointee != 0 } ?? false
            if hasValue, Self.secrets.contains(String(cString: keyword)) {
                throw FleetError(
                    .invalidArgument,
                    "the store's address has a password or key, which other users could see; remove it from the "
                        + "address, and put it into ~/.pgpass or a service file of PostgreSQL")
            }
            option += 1
        }
        self.text = text
    }
}
