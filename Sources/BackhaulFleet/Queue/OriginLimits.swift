/// When tasks may start at an origin: its starts per minute, and the pause for which its server has asked. Both hold
/// for all workers together.
struct OriginLimits {
    let database: DatabaseConnection
    let origin: Int64

    /// Whether tasks may start at the origin `o` now.
    static let isOpen = """
        greatest(o.next_start, o.paused_until, '-infinity') <= clock_timestamp()
        """

    /// How many connections all workers together may have to the origin `o`. After a pause, it is one more each second.
    static let connections = """
        least(coalesce(o.connections, (SELECT connections_per_origin FROM backhaul.settings)),
            1 + floor(extract(epoch FROM clock_timestamp() - o.paused_until))::bigint)
        """

    /// The most tasks that may start together at the origin `o`, which is open: those of a quarter of a second; NULL if
    /// there is no limit. So in no second there are many more starts than the limit, and workers that ask for tasks
    /// five times a second reach it.
    static let starts = """
        CASE WHEN o.starts_per_minute IS NOT NULL THEN least(\(burst), 1 + floor(extract(epoch FROM clock_timestamp()
            - coalesce(o.next_start, clock_timestamp() - interval '1 minute')) * o.starts_per_minute / 60))::bigint END
        """
    private static let burst = "greatest(1, o.starts_per_minute / 240)"

    /// Moves the time of the next start, and the turn of the applications, after tasks have started. The row of the
    /// origin is locked.
    ///
    /// - last: the last application whose tasks have started.
    func started(_ count: Int, last: Int64) throws(FleetError) {
        try database.run(
            """
            UPDATE backhaul.origins o SET last_application = $3,
                next_start = greatest(next_start,
                    clock_timestamp() - (\(Self.burst) - 1) * interval '1 minute' / starts_per_minute)
                    + $2::integer * interval '1 minute' / starts_per_minute
            WHERE id = $1
            """, [.integer(origin), .integer(Int64(count)), .integer(last)])
    }

    /// The server has asked for a pause.
    func pause(milliseconds: Int64) throws(FleetError) {
        _ = try database.transaction { () throws(FleetError) in
            try database.run(
                """
                UPDATE backhaul.origins SET paused_until =
                    greatest(paused_until, clock_timestamp() + $2::bigint * interval '1 millisecond') WHERE id = $1
                """, [.integer(origin), .integer(milliseconds)])
        }
    }
}
