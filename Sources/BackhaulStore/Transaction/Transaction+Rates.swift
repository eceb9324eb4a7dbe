internal import BackhaulModel

extension Transaction {
    /// Limits the bytes per second of the selected tasks; nil: no limit of their own.
    func setRateOfSelectedTasks(_ rate: UInt64?) throws(Failure) {
        try makeOptionsOfSelectedTasks()
        try connection.run(Self.setRate, .bits(rate))
    }

    /// Those of the selection that have none get a row that says nothing.
    func makeOptionsOfSelectedTasks() throws(Failure) {
        try connection.run(Self.makeOptions)
        try connection.run(Self.markOptions)
    }

    private static let makeOptions = Query(
        """
        INSERT OR IGNORE INTO request_options (task_id, refresh, if_changed, named_by_server, ignores_digests)
        SELECT id, 0, 0, 0, 0 FROM selected
        """)
    private static let markOptions = Query("UPDATE requests SET has_options = 1 WHERE task_id IN selected")
    private static let setRate = Query(
        "UPDATE request_options SET bytes_per_second = ? WHERE task_id IN selected")
}
