internal import BackhaulModel

/// What can be asked of the database within a transaction. Lent to the bodies that `StoreThread.perform` runs, on the
/// store's thread; not to be kept. All moments are the caller's: the store reads no clock.
public final class Transaction {
    let connection: Connection
    let directory: StoreDirectory

    init(connection: Connection, directory: StoreDirectory) {
        self.connection = connection
        self.directory = directory
    }

    /// Where the finished file of a task without a destination lies.
    func keptFile(_ task: TaskID) -> String { directory.keptFile(of: task) }
}
