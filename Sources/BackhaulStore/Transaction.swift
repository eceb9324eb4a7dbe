public import BackhaulModel

/// The operations on the database within a transaction. All operations on one subject are in one struct, an *operation
/// family*. `StoreThread.perform` runs closures, the *bodies*, on the store's thread, and passes a transaction to each
/// body. A body must not store the transaction or a family. The caller passes all times, because the store reads no
/// clock.
public final class Transaction {
    let tables: Tables
    /// The durations of the commits so far. Only transactions that changed the database count.
    public internal(set) var commits = DurationHistogram()
    var connection: Connection { tables.connection }

    init(connection: Connection, directory: StoreDirectory, resolver: URLResolver = .none) {
        tables = Tables(connection: connection, directory: directory, resolver: resolver)
    }

    public var activities: ActivityOperations { ActivityOperations(tables: tables) }
    public var applications: ApplicationOperations { ApplicationOperations(tables: tables) }
    public var attempts: AttemptOperations { AttemptOperations(tables: tables) }
    public var bodies: BodyTable { tables.bodies }
    public var challenges: ChallengeOperations { ChallengeOperations(tables: tables) }
    public var clients: ClientOperations { ClientOperations(tables: tables) }
    public var commands: CommandTable { tables.commands }
    public var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }
    public var control: ControlOperations { ControlOperations(tables: tables) }
    public var cookies: CookieTable { tables.cookies }
    public var credentials: CredentialOperations { CredentialOperations(tables: tables) }
    public var delays: DelayOperations { DelayOperations(tables: tables) }
    public var destinations: DestinationOperations { DestinationOperations(tables: tables) }
    public var endings: EndingOperations { EndingOperations(tables: tables) }
    public var events: EventOperations { EventOperations(tables: tables) }
    public var history: HistoryOperations { HistoryOperations(tables: tables) }
    public var lanes: LaneOperations { LaneOperations(tables: tables) }
    public var launches: LaunchOperations { LaunchOperations(tables: tables) }
    public var leftovers: LeftoverOperations { LeftoverOperations(tables: tables) }
    public var uploads: UploadOperations { UploadOperations(tables: tables) }
    public var listing: ListingOperations { ListingOperations(tables: tables) }
    public var meta: MetaTable { tables.meta }
    public var metrics: MetricsOperations { MetricsOperations(tables: tables) }
    public var sessions: SessionOperations { SessionOperations(tables: tables) }
    public var settings: SettingTable { tables.settings }
    public var starts: StartOperations { StartOperations(tables: tables) }
    public var tasks: TaskOperations { TaskOperations(tables: tables) }
    public var waits: WaitOperations { WaitOperations(tables: tables) }
}
