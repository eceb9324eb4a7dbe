public import BackhaulModel

/// The table `meta` has single values about the store. Each value has a key.
public struct MetaTable {
    let connection: Connection

    func clock() throws(Failure) -> ClockReading? {
        try connection.first(Self.selectClock) { row throws(Failure) in row.text() }.flatMap(ClockReading.init(text:))
    }

    func setClock(_ reading: ClockReading) throws(Failure) {
        try connection.run(Self.writeClock, .text(reading.text))
    }

    func bootID() throws(Failure) -> String? {
        try connection.first(Self.selectBoot) { row throws(Failure) in row.text() }
    }

    /// Records the id of the boot, and the id that the next enqueued task will get.
    func beginBoot(_ id: String) throws(Failure) {
        try connection.run(Self.writeFirstTask)
        try connection.run(Self.writeBoot, .text(id))
    }

    /// Returns the store's tag: eight random hexadecimal digits. The digits are made at the first call and never
    /// change. The names of the store's part files contain the tag. So these names differ from the names of other
    /// stores' part files.
    public func storeTag() throws(Failure) -> String {
        let known = try connection.first(Self.selectTag) { row throws(Failure) in row.text() }
        if let known { return known }
        try connection.run(Self.makeTag)
        return try connection.first(Self.selectTag) { row throws(Failure) in row.text() } ?? ""
    }

    func nextLaunch() throws(Failure) -> LaunchID? {
        try connection.run(Self.countLaunches)
        return try connection.first(Self.selectLaunches) { row throws(Failure) in row.launchID() }
    }

    /// The SQL value: the id of the first task since this boot. A file system may get another device number at each
    /// boot, so the device numbers in rows of earlier tasks are not valid.
    static let firstTaskOfBoot = "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'first_task_of_boot')"

    private static let selectClock = Query("SELECT value FROM meta WHERE key = 'clock'")
    private static let writeClock = Query("INSERT OR REPLACE INTO meta (key, value) VALUES ('clock', ?)")
    private static let selectBoot = Query("SELECT value FROM meta WHERE key = 'boot_id'")
    private static let writeBoot = Query("INSERT OR REPLACE INTO meta (key, value) VALUES ('boot_id', ?)")
    private static let writeFirstTask = Query(
        """
        INSERT OR REPLACE INTO meta (key, value)
        SELECT 'first_task_of_boot', 1 + ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'tasks'), 0)
        """)
    private static let selectTag = Query("SELECT value FROM meta WHERE key = 'tag'")
    private static let makeTag = Query("INSERT INTO meta VALUES ('tag', lower(hex(randomblob(4))))")
    private static let countLaunches = Query(
        """
        INSERT INTO meta VALUES ('launches', '1')
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)
        """)
    private static let selectLaunches = Query("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'launches'")
}

extension ClockReading {
    fileprivate var text: String { "\(wall) \(boot) \(bootID)" }

    fileprivate init?(text: String) {
        let fields = text.split(separator: " ")
        guard fields.count == 3, let wall = Int64(fields[0]), let boot = Int64(fields[1]) else { return nil }
        self.init(wall: wall, boot: boot, bootID: String(fields[2]))
    }
}
