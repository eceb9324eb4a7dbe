internal import BackhaulModel

/// The operations on the database within a transaction. All operations on one subject are in one struct, an *operation
/// family*. `StoreThread.perform` runs closures, the *bodies*, on the store's thread, and passes a transaction to each
/// body. A body must not store the transaction or a family. The caller passes all times, because the store reads no
/// clock.
///
/// A family is a struct of one or two references. The families are constants, so Swift retains no object for the call
/// of an operation.
public final class Transaction {
    let connection: Connection
    let tables: Tables

    public let activities: ActivityOperations
    public let attempts: AttemptOperations
    public let bodies: BodyOperations
    public let challenges: ChallengeOperations
    public let clients: ClientOperations
    public let commands: CommandOperations
    public let constraints: ConstraintOperations
    public let control: ControlOperations
    public let cookies: CookieOperations
    public let credentials: CredentialOperations
    public let delays: DelayOperations
    public let destinations: DestinationOperations
    public let endings: EndingOperations
    public let events: EventOperations
    public let history: HistoryOperations
    public let lanes: LaneOperations
    public let launches: LaunchOperations
    public let leftovers: LeftoverOperations
    public let listing: ListingOperations
    public let sessions: SessionOperations
    public let settings: SettingOperations
    public let starts: StartOperations
    public let tasks: TaskOperations
    public let waits: WaitOperations

    init(connection: Connection, directory: StoreDirectory) {
        let tables = Tables(connection: connection)
        self.connection = connection
        self.tables = tables
        activities = ActivityOperations(tables: tables, directory: directory)
        attempts = AttemptOperations(tables: tables)
        bodies = BodyOperations(tables: tables)
        challenges = ChallengeOperations(tables: tables)
        clients = ClientOperations(tables: tables)
        commands = CommandOperations(tables: tables)
        constraints = ConstraintOperations(tables: tables)
        control = ControlOperations(tables: tables)
        cookies = CookieOperations(tables: tables)
        credentials = CredentialOperations(tables: tables)
        delays = DelayOperations(tables: tables)
        destinations = DestinationOperations(tables: tables)
        endings = EndingOperations(tables: tables, directory: directory)
        events = EventOperations(tables: tables, directory: directory)
        history = HistoryOperations(tables: tables)
        lanes = LaneOperations(tables: tables)
        launches = LaunchOperations(tables: tables)
        leftovers = LeftoverOperations(tables: tables)
        listing = ListingOperations(tables: tables, directory: directory)
        sessions = SessionOperations(tables: tables)
        settings = SettingOperations(tables: tables)
        starts = StartOperations(tables: tables)
        tasks = TaskOperations(tables: tables, directory: directory)
        waits = WaitOperations(tables: tables)
    }
}
