internal import BackhaulModel

/// The tables `request_options` and `activity_options` have rarely used fields of requests. The policy of a request is
/// the settings that replace settings of the session. If a column of the policy is NULL, the session's value applies.
struct OptionTable {
    let connection: Connection

    func insert(_ options: RequestOptions, of task: TaskID) throws(Failure) {
        try connection.run(Self.insertOfTask, NewRow.values(.id(task)) { options.write(to: &$0) })
    }

    func insert(_ options: RequestOptions, of activity: ActivityID) throws(Failure) {
        try connection.run(Self.insertOfActivity, NewRow.values(.number(activity.rawValue)) { options.write(to: &$0) })
    }

    func find(_ task: TaskID) throws(Failure) -> StoredOptions? {
        try connection.first(Self.selectOfTask, .id(task), read: Self.stored)
    }

    func find(_ activity: ActivityID) throws(Failure) -> StoredOptions? {
        try connection.first(Self.selectOfActivity, .number(activity.rawValue), read: Self.stored)
    }

    func remove(_ activity: ActivityID) throws(Failure) {
        try connection.run(Self.removeOfActivity, .number(activity.rawValue))
    }

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) { try connection.run(Self.removeOfAcknowledged) }

    /// For each task in the temporary table `selected` that has no row in `request_options`, inserts an empty row.
    func makeForSelected() throws(Failure) { try connection.run(Self.makeForSelected) }

    func setBodySize(_ size: Int, of task: TaskID) throws(Failure) {
        try connection.run(Self.setBodySize, .id(task), .number(size))
    }

    func earliestStart(of task: TaskID) throws(Failure) -> Int64? {
        try connection.first(Self.selectEarliestStart, .id(task)) { row throws(Failure) in
            row.optionalInteger()
        } ?? nil
    }

    func setRateOfSelected(_ rate: UInt64?) throws(Failure) { try connection.run(Self.setRate, .bits(rate)) }

    // MARK: Starts

    /// Sets the task's earliest and latest start. `delayed` is when the task began to wait for its earliest start. It
    /// is nil if the earliest start has not changed since the enqueue (when the request became a task), or if the task
    /// has waited since the enqueue.
    func setStarts(of task: TaskID, earliest: Int64?, latest: Int64?, delayed: Int64?) throws(Failure) {
        try connection.run(Self.setStarts, .id(task), .optional(earliest), .optional(latest), .optional(delayed))
    }

    func setDelayed(_ task: TaskID, since now: Int64) throws(Failure) {
        try connection.run(Self.setDelayed, .id(task), .integer(now))
    }

    /// Records that the selected tasks wait for their earliest start from now on. Changes only tasks with a
    /// `start_delayed_ms` (see `StartOperations`) whose earliest start is in the future. `now` is the present time of
    /// `StartClock.calendar`, and `wall` is the present time of the wall clock.
    func setDelayedOfSelected(since now: Int64, wall: Int64) throws(Failure) {
        try connection.run(Self.setDelayedOfSelected, .integer(now), .integer(wall))
    }

    func moveDelays(by step: Int64) throws(Failure) { try connection.run(Self.moveDelays, .integer(step)) }

    // MARK: -

    // These are SQL values for a row of `tasks`.
    static let resourceTimeout =
        "(SELECT rules_resource_timeout_ms FROM request_options WHERE request_options.task_id = tasks.id)"
    static let longestRetryDelay =
        "(SELECT retry_longest_delay_ms FROM request_options WHERE request_options.task_id = tasks.id)"
    static let earliestStart =
        "(SELECT earliest_start_ms FROM request_options WHERE request_options.task_id = tasks.id)"
    /// The SQL condition that task ?1 has a `start_delayed_ms` (see `StartOperations`).
    static let isRescheduled =
        "EXISTS (SELECT 1 FROM request_options WHERE task_id = ?1 AND start_delayed_ms IS NOT NULL)"
    /// The SQL list of the selected tasks whose earliest start is after ?2.
    static let selectedEarly = """
        (SELECT task_id FROM selected CROSS JOIN request_options ON task_id = selected.id WHERE earliest_start_ms > ?2)
        """

    private static let columns = NewRow.names { RequestOptions.none.write(to: &$0) }
    private static let values = "\(columns.joined(separator: ", "))) VALUES (?\(columns.map { _ in ", ?" }.joined()))"
    private static let insertOfTask = Query("INSERT INTO request_options (task_id, \(values)")
    private static let insertOfActivity = Query("INSERT INTO activity_options (activity_id, \(values)")
    private static let selectOfTask = Query(stored, "FROM request_options WHERE task_id = ?")
    private static let selectOfActivity = Query(
        stored, "FROM activity_options WHERE activity_id = ?")
    private static let removeOfActivity = Query("DELETE FROM activity_options WHERE activity_id = ?")
    private static let removeOfAcknowledged = Query("DELETE FROM request_options WHERE task_id IN acknowledged")
    private static let makeForSelected = Query(
        """
        INSERT OR IGNORE INTO request_options (task_id, refresh, if_changed, named_by_server, ignores_digests)
        SELECT id, \(RefreshKind.none.sql), 0, 0, 0 FROM selected
        """)
    private static let setBodySize = Query("UPDATE request_options SET body_size = ?2 WHERE task_id = ?1")
    private static let selectEarliestStart = Query("SELECT earliest_start_ms FROM request_options WHERE task_id = ?")
    private static let setRate = Query("UPDATE request_options SET bytes_per_second = ? WHERE task_id IN selected")
    private static let setStarts = Query(
        """
        UPDATE request_options SET earliest_start_ms = ?2, latest_start_ms = ?3, start_delayed_ms = ?4
        WHERE task_id = ?1
        """)
    private static let setDelayed = Query("UPDATE request_options SET start_delayed_ms = ?2 WHERE task_id = ?1")
    private static let setDelayedOfSelected = Query(
        """
        UPDATE request_options SET start_delayed_ms = ?1
        WHERE task_id IN selected AND start_delayed_ms IS NOT NULL AND earliest_start_ms > ?2
        """)
    private static let moveDelays = Query(
        "UPDATE request_options SET start_delayed_ms = start_delayed_ms + ? WHERE start_delayed_ms IS NOT NULL")
}

/// A row of options, without the request's constraints and without the parts of the request's body. The type is a
/// tuple, because a struct of this size needs kilobytes of code for its copies.
typealias StoredOptions = (
    options: RequestOptions, bodySource: BodySource?, bodyBytes: [UInt8]?, hasDependencies: Bool
)

extension OptionTable {
    fileprivate static func stored(_ row: inout Row) throws(Failure) -> StoredOptions {
        var options = RequestOptions()
        try options.visitFields(with: &row)
        let bodySource: BodySource? = row.optionalNumber("body_source").flatMap(BodySource.init)
        return (options, bodySource, row.optionalBlob("body"), row.flag("dependency_count"))
    }
}

extension RequestOptions {
    fileprivate func write(to row: inout NewRow) {
        var options = self
        options.visitFields(with: &row)
        var parts = 0
        switch body {
        case nil:
            row.set("body_source", .null)
            row.set("body", .null)
        case .file(_, let source):
            row.set("body_source", .number(source.rawValue))
            row.set("body", .null)
            parts = 1
        case .form(let form, let source):
            row.set("body_source", .number(source.rawValue))
            row.set("body", .null)
            parts = form.count
        case .bytes(let bytes):
            row.set("body_source", .number(BodySource.reference.rawValue))
            row.set("body", .blob(bytes))
        }
        row.set("body_size", .bits(sentSize))
        row.set("body_part_count", .number(parts))
        row.set("dependency_count", .number(dependencies.count))
    }
}
