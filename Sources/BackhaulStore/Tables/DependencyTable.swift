internal import BackhaulModel

/// The table `dependencies` has the tasks that tasks wait for, and the table `taken_values` what they have taken from
/// their responses. The *predecessor* is the task that another task waits for.
struct DependencyTable {
    let connection: Connection

    func insert(
        _ dependency: Dependency, on predecessor: TaskID, of task: TaskID, at position: Int, isOver: Bool
    ) throws(Failure) {
        let key: Value = if case .key(let key) = dependency.task { .text(key) } else { .null }
        try connection.run(
            Self.insert, .id(task), .number(position), key, .id(predecessor), .number(dependency.ifFails.rawValue),
            .optional(dependency.url), .optional(HeaderBlob.pack(dependency.headers)), .optional(dependency.body),
            .flag(isOver))
    }

    /// Returns the dependencies of the task, as the host gave them.
    func all(of task: TaskID) throws(Failure) -> [Dependency] {
        try connection.all(Self.selectAll, .id(task), read: DependencyRow.init(row:)).map(\.dependency)
    }

    /// Returns the dependencies on the task that last.
    func lasting(on predecessor: TaskID) throws(Failure) -> [DependencyRow] {
        try connection.all(Self.selectLasting, .id(predecessor), read: DependencyRow.init(row:))
    }

    /// Returns the dependencies that last on the selected tasks, sorted by the ids of the waiting tasks.
    func lastingOnSelected() throws(Failure) -> [DependencyRow] {
        try connection.all(Self.selectLastingOnSelected, read: DependencyRow.init(row:)).sorted { $0.task < $1.task }
    }

    /// Returns the tasks that the task still waits for, in their order.
    func predecessors(of task: TaskID) throws(Failure) -> [TaskID] {
        try connection.all(Self.selectPredecessors, .id(task)) { row throws(Failure) in row.taskID() }
    }

    func end(_ row: DependencyRow) throws(Failure) {
        try connection.run(Self.end, .id(row.task), .number(row.position))
    }

    /// Ends all dependencies of a task, because the task ends.
    func endAll(of task: TaskID) throws(Failure) { try connection.run(Self.endAll, .id(task)) }

    func endAllOfSelected() throws(Failure) { try connection.run(Self.endAllOfSelected) }

    // MARK: Taken values

    func values(of task: TaskID) throws(Failure) -> TakenValues? {
        try connection.first(Self.selectValues, .id(task), read: TakenValues.init(row:))
    }

    func write(_ values: TakenValues, of task: TaskID) throws(Failure) {
        try connection.run(
            Self.writeValues, .id(task), .optional(values.url), .optional(HeaderBlob.pack(values.headers)),
            .optional(values.body))
    }

    /// Whether the text is a JSON document.
    func isDocument(_ text: String) throws(Failure) -> Bool {
        try connection.first(Self.isDocument, .text(text)) { row throws(Failure) in row.flag() } ?? false
    }

    // MARK: -

    /// Removes the rows of the tasks in the temporary table `acknowledged`.
    func removeOfAcknowledged() throws(Failure) {
        try connection.run(Self.removeDependencies)
        try connection.run(Self.removeValues)
    }

    /// The SQL condition for a row of `tasks`: the task waits for another task.
    static let lasts = "EXISTS (SELECT 1 FROM dependencies WHERE task_id = tasks.id AND is_over = 0)"
    /// The SQL condition for a row of `dependencies`: the task starts only with values from the response. If failures
    /// of the other task are ignored, there may be no values.
    static let takesValues = """
        if_fails <> \(DependencyFailure.ignore.rawValue)
            AND (dependencies.url IS NOT NULL OR dependencies.headers IS NOT NULL OR dependencies.body IS NOT NULL)
        """

    private static let insert = Query(
        """
        INSERT INTO dependencies (task_id, position, idempotency_key, predecessor_id, if_fails, url, headers, body,
            is_over)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let selectAll = Query(
        DependencyRow.init(row:), "FROM dependencies WHERE task_id = ? ORDER BY position")
    private static let selectLasting = Query(
        DependencyRow.init(row:), "FROM dependencies WHERE predecessor_id = ? AND is_over = 0 ORDER BY task_id")
    private static let selectLastingOnSelected = Query(
        DependencyRow.init(row:),
        "FROM selected CROSS JOIN dependencies ON predecessor_id = selected.id WHERE is_over = 0")
    private static let selectPredecessors = Query(
        "SELECT predecessor_id FROM dependencies WHERE task_id = ? AND is_over = 0 ORDER BY position")
    private static let end = Query("UPDATE dependencies SET is_over = 1 WHERE task_id = ? AND position = ?")
    private static let endAll = Query("UPDATE dependencies SET is_over = 1 WHERE task_id = ? AND is_over = 0")
    private static let endAllOfSelected = Query(
        "UPDATE dependencies SET is_over = 1 WHERE task_id IN selected AND is_over = 0")
    private static let selectValues = Query(TakenValues.init(row:), "FROM taken_values WHERE task_id = ?")
    private static let writeValues = Query(
        "INSERT OR REPLACE INTO taken_values (task_id, url, headers, body) VALUES (?, ?, ?, ?)")
    private static let isDocument = Query("SELECT json_valid(?)")
    private static let removeDependencies = Query("DELETE FROM dependencies WHERE task_id IN acknowledged")
    private static let removeValues = Query("DELETE FROM taken_values WHERE task_id IN acknowledged")
}

/// A dependency with its place.
struct DependencyRow {
    let task: TaskID
    let position: Int
    let predecessor: TaskID
    let dependency: Dependency

    init(row: inout Row) throws(Failure) {
        task = row.taskID("task_id")
        position = row.number("position")
        let key = row.optionalText("idempotency_key")
        predecessor = row.taskID("predecessor_id")
        var dependency = Dependency(key.map { .key($0) } ?? .id(predecessor))
        dependency.ifFails = DependencyFailure(rawValue: row.number("if_fails")) ?? .fail
        dependency.url = row.optionalText("url")
        let headers = row.optionalBlob("headers")
        dependency.body = row.optionalText("body")
        dependency.headers = try HeaderBlob.unpack(headers)
        self.dependency = dependency
    }
}

extension TakenValues {
    fileprivate init(row: inout Row) throws(Failure) {
        self.init()
        url = row.optionalText("url")
        let headers = row.optionalBlob("headers")
        body = row.optionalBlob("body")
        self.headers = try HeaderBlob.unpack(headers)
    }
}
