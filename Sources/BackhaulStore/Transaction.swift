internal import BackhaulModel

/// What can be asked of the database within a transaction. Lent to the bodies that `StoreThread.perform` runs, on the
/// store's thread; not to be kept. All moments are the caller's: the store reads no clock.
public final class Transaction {
    let connection: Connection
    let tables: Tables
    let directory: StoreDirectory

    init(connection: Connection, directory: StoreDirectory) {
        self.connection = connection
        tables = Tables(connection: connection)
        self.directory = directory
    }
}
