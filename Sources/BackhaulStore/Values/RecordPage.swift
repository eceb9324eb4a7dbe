internal import BackhaulModel

/// The records of several tasks in one reply, until the reply is full. All records of a task are in the same reply.
struct RecordPage<Record> {
    private(set) var records: [Record] = []
    /// Whether a task was left out, because the reply is full.
    private(set) var more = false
    private var room = Limits.chunkSize

    /// Adds all records of a task. Returns false when the reply is full.
    /// - Parameter size: Returns the approximate size of a record in the reply, in bytes.
    mutating func add(_ new: [Record], size: (Record) -> Int) -> Bool {
        guard room > 0 || new.isEmpty else {
            more = true
            return false
        }
        room -= new.reduce(0) { $0 + size($1) }
        records += new
        return true
    }
}
