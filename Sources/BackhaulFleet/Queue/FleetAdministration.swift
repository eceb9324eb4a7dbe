internal import BackhaulModel

/// What the administrator of a fleet does: makes its tables, reads its state, and drains workers.
public struct FleetAdministration {
    private let database: DatabaseConnection

    public struct Status: Equatable, Sendable {
        public var queued: UInt64
        public var suspended: UInt64
        public var running: UInt64
        public var events: UInt64
        public var workers: UInt64
        /// How long the oldest queued task has waited, in milliseconds; 0 if there is none.
        public var oldestQueuedMilliseconds: Int64
    }

    public struct WorkerInfo: Equatable, Sendable {
        public var id: String
        public var name: String
        public var isDraining: Bool
        public var runningTasks: UInt64
        /// How many milliseconds are left until the lease ends; negative if it has ended.
        public var leaseMilliseconds: Int64
    }

    public struct OriginInfo: Equatable, Sendable {
        public var name: String
        /// Nil if the origin has the number of the fleet.
        public var connections: UInt64?
        /// Nil if there is no limit.
        public var startsPerMinute: UInt64?
        /// How long the pause lasts for which the server has asked, in milliseconds; 0 if there is no pause.
        public var pauseMilliseconds: Int64
        public var queuedTasks: UInt64
        public var runningTasks: UInt64
    }

    /// Makes the tables of the fleet, or brings them to the version of this library.
    public static func makeTables(_ address: DatabaseAddress) throws(FleetError) {
        try Schema.migrate(try DatabaseConnection(address))
    }

    public init(_ address: DatabaseAddress) throws(FleetError) { database = try Schema.open(address) }

    public func status() throws(FleetError) -> Status {
        let rows = try database.run(
            """
            SELECT count(*) FILTER (WHERE state = 1), count(*) FILTER (WHERE state = 2),
                count(*) FILTER (WHERE state IN (3, 4)),
                (SELECT count(*) FROM backhaul.events) + (SELECT count(*) FROM backhaul.new_ends),
                (SELECT count(*) FROM backhaul.workers WHERE lease_until > clock_timestamp()),
                coalesce((extract(epoch FROM clock_timestamp() - (
                    SELECT min(greatest(t.enqueued_at, t.not_before))
                    FROM backhaul.live l JOIN backhaul.tasks t ON t.session = l.session AND t.id = l.task
                    WHERE l.state = 1)) * 1000)::bigint, 0)
            FROM backhaul.live
            """)
        guard let row = rows.first else { throw FleetError(.internal, "the database returned no status") }
        return Status(
            queued: row.unsigned(0), suspended: row.unsigned(1), running: row.unsigned(2), events: row.unsigned(3),
            workers: row.unsigned(4), oldestQueuedMilliseconds: max(0, row.integer(5)))
    }

    public func workers() throws(FleetError) -> [WorkerInfo] {
        try database.run(
            """
            SELECT id, name, is_draining, (SELECT count(*) FROM backhaul.live WHERE worker = w.id),
                (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::bigint
            FROM backhaul.workers w ORDER BY name, id
            """
        ).map { row in
            WorkerInfo(
                id: row.text(0), name: row.text(1), isDraining: row.bool(2), runningTasks: row.unsigned(3),
                leaseMilliseconds: row.integer(4))
        }
    }

    /// The origins that have tasks or limits.
    public func origins() throws(FleetError) -> [OriginInfo] {
        try database.run(
            """
            SELECT o.name, o.connections, o.starts_per_minute,
                (extract(epoch FROM greatest(o.paused_until - clock_timestamp(), interval '0')) * 1000)::bigint,
                count(l.task) FILTER (WHERE l.state = 1), count(l.task) FILTER (WHERE l.state IN (3, 4))
            FROM backhaul.origins o LEFT JOIN backhaul.live l ON l.origin = o.id
            GROUP BY o.id
            HAVING count(l.task) > 0 OR o.connections IS NOT NULL OR o.starts_per_minute IS NOT NULL ORDER BY o.name
            """
        ).map { row in
            OriginInfo(
                name: row.text(0), connections: row.isNull(1) ? nil : row.unsigned(1),
                startsPerMinute: row.isNull(2) ? nil : row.unsigned(2), pauseMilliseconds: row.integer(3),
                queuedTasks: row.unsigned(4), runningTasks: row.unsigned(5))
        }
    }

    /// Sets the given limits of the origin of a URL. Zero removes a limit.
    public func limit(originOf url: String, connections: Int64?, startsPerMinute: Int64?) throws(FleetError) {
        let name = try FleetError.wrapping(try FleetRequest.origin(of: url))
        let values = [connections, startsPerMinute].map { $0.map(SQLValue.integer) ?? .null }
        try database.run(
            """
            INSERT INTO backhaul.origins AS o (name, connections, starts_per_minute)
            VALUES ($1, nullif($2::integer, 0), nullif($3::integer, 0))
            ON CONFLICT (name) DO UPDATE SET
                connections = CASE WHEN $2::integer IS NULL THEN o.connections ELSE excluded.connections END,
                starts_per_minute =
                    CASE WHEN $3::integer IS NULL THEN o.starts_per_minute ELSE excluded.starts_per_minute END,
                next_start = CASE WHEN $3::integer IS NULL THEN o.next_start END
            """, [.text(name)] + values)
    }

    /// Lets the workers with this name or id finish their tasks, take no others, and exit. Returns their number.
    public func drain(_ worker: String) throws(FleetError) -> Int {
        try database.run(
            "UPDATE backhaul.workers SET is_draining = true WHERE name = $1 OR id = $1", [.text(worker)]
        ).affected
    }

    /// Gives a role of the database the rights of a worker.
    public func grantWorker(_ role: String) throws(FleetError) { try Rights.grantWorker(role, database) }

    /// Gives a role of the database the rights of a host of the application.
    public func grantHost(_ role: String, application: String) throws(FleetError) {
        try FleetError.wrapping(try SessionCheck.checkApplication(application))
        try Rights.grantHost(role, application: application, database)
    }
}
