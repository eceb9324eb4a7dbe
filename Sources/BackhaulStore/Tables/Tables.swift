internal import BackhaulModel

/// The tables of the database. Apart from the schema and pragmas, only files in Tables/ and Repair/ contain SQL.
///
/// - Each table belongs to one file. A large table belongs to one folder. Only the table's file or folder contains
///   statements that change the table.
/// - A SELECT belongs to the file of the table that it mainly reads. It may join other tables: Tests/Tidy/test_store.py
///   lists these joins with their reasons.
/// - If a statement has a condition on another table (`EXISTS …`), the condition is a constant in the file of that
///   other table.
/// - The temporary tables `selected`, `running` and `acknowledged` belong to Selection.swift; every file may read them.
/// - If a statement contains the numeric code of a state, kind or reason, the code comes from the enumeration, with the
///   property `sql`.
///
/// The files in Operations/ combine these statements into operations of a transaction. These files contain no SQL.
struct Tables {
    let connection: Connection
    let directory: StoreDirectory
    /// Resolves URLs that servers have sent. The store has no parser of URLs.
    var resolver = URLResolver.none

    var activities: ActivityTable { ActivityTable(connection: connection) }
    var attempts: AttemptTable { AttemptTable(connection: connection) }
    var bodies: BodyTable { BodyTable(connection: connection) }
    var challenges: ChallengeTable { ChallengeTable(connection: connection) }
    var claims: ClaimTable { ClaimTable(connection: connection) }
    var clients: ClientTable { ClientTable(connection: connection) }
    var commands: CommandTable { CommandTable(connection: connection) }
    var constraints: ConstraintsTable { ConstraintsTable(connection: connection) }
    var cookies: CookieTable { CookieTable(connection: connection) }
    var delays: TaskDelays { TaskDelays(connection: connection) }
    var delivered: DeliveredTable { DeliveredTable(connection: connection) }
    var dependencies: DependencyTable { DependencyTable(connection: connection) }
    var events: EventTable { EventTable(connection: connection) }
    var groups: GroupTable { GroupTable(connection: connection) }
    var history: HistoryTable { HistoryTable(connection: connection) }
    var storedCredentials: StoredCredentialTable { StoredCredentialTable(connection: connection) }
    var lanes: LaneTable { LaneTable(connection: connection) }
    var launches: LaunchTable { LaunchTable(connection: connection) }
    var leftovers: LeftoverTable { LeftoverTable(connection: connection) }
    var listing: TaskListing { TaskListing(connection: connection) }
    var meta: MetaTable { MetaTable(connection: connection) }
    var options: OptionTable { OptionTable(connection: connection) }
    var parts: PartTable { PartTable(connection: connection) }
    var refreshes: RefreshTable { RefreshTable(connection: connection) }
    var requests: RequestTable { RequestTable(connection: connection) }
    var selectedTasks: SelectedTasks { SelectedTasks(connection: connection) }
    var selection: Selection { Selection(connection: connection) }
    var sessions: SessionTable { SessionTable(connection: connection) }
    var settings: SettingTable { SettingTable(connection: connection) }
    var tasks: TaskTable { TaskTable(connection: connection) }
    var readyTasks: ReadyTasks { ReadyTasks(connection: connection) }
    var uploads: UploadTable { UploadTable(connection: connection) }
    var validators: ValidatorTable { ValidatorTable(connection: connection) }
    var waits: WaitTable { WaitTable(connection: connection) }
}

extension RawRepresentable where RawValue == Int32 {
    /// The numeric code of this state, kind or reason, as a literal of SQL. A parameter does not work here, because
    /// SQLite uses a partial index only if it knows the value when it prepares the statement.
    var sql: String { String(rawValue) }
}
