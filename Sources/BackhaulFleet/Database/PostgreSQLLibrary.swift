internal import BackhaulModel
internal import CPostgreSQL

/// libpq, which is loaded when it is first used.
enum PostgreSQLLibrary {
    /// Nil if libpq is missing.
    private static let loaded: bhl_postgresql? = {
        var functions = bhl_postgresql()
        return bhl_postgresql_load(&functions) == 1 ? functions : nil
    }()

    static func functions() throws(FleetError) -> bhl_postgresql {
        guard let loaded else {
            throw FleetError(
                .storeUnavailable,
                "a store in PostgreSQL needs libpq.so.5, which is missing; install it (Debian package libpq5)")
        }
        return loaded
    }
}
