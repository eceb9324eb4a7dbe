internal import BackhaulModel

/// What can be asked of the database within a transaction. Lent to the bodies that `StoreThread.perform` runs, on the
/// store's thread; not to be kept. All moments are the caller's: the store reads no clock.
public final class Transaction {
    let connection: Connection
    let keptPath: String

    init(connection: Connection, keptPath: String) {
        self.connection = connection
        self.keptPath = keptPath
    }

    /// Where the finished file of a task without a destination lies.
    func keptFile(_ task: TaskID) -> String { "\(keptPath)/\(task.rawValue)" }
}
