public import BackhaulModel

/// The table `applied` has the replies to commands that were applied. With these replies, each command of a client is
/// applied only one time. A reply stays in the table until it is known that the client has received it.
public struct CommandTable {
    let connection: Connection

    /// Returns the stored reply to a command, or nil if the command was not applied.
    public func reply(to command: CommandID) throws(Failure) -> [UInt8]? {
        try connection.first(
            Self.select, .bits(command.client.high), .bits(command.client.low), .integer(try sequence(command))
        ) { row throws(Failure) in row.optionalBlob() } ?? nil
    }

    /// Stores the reply. This function must be called in the transaction that applies the command.
    public func remember(_ command: CommandID, reply: [UInt8]) throws(Failure) {
        try connection.run(
            Self.insert, .bits(command.client.high), .bits(command.client.low), .integer(try sequence(command)),
            .blob(reply))
    }

    private func sequence(_ command: CommandID) throws(Failure) -> Int64 {
        guard let sequence = Int64(exactly: command.sequence) else {
            throw Failure(.invalidArgument, "the command's number \(command.sequence) is out of range")
        }
        return sequence
    }

    /// Removes the replies up to this sequence number, because the client has these replies.
    public func forget(_ client: ClientID, through sequence: UInt64) throws(Failure) {
        try connection.run(Self.removeThrough, .bits(client.high), .bits(client.low), .number(sequence))
    }

    func removeAll(of client: ClientID) throws(Failure) {
        try connection.run(Self.removeAll, .bits(client.high), .bits(client.low))
    }

    /// Removes the replies to clients that have no row in `clients`.
    func removeOrphans() throws(Failure) { try connection.run(Self.removeOrphans) }

    private static let select = Query(
        "SELECT reply FROM applied WHERE client_high = ? AND client_low = ? AND sequence = ?")
    private static let insert = Query(
        "INSERT OR REPLACE INTO applied (client_high, client_low, sequence, reply) VALUES (?, ?, ?, ?)")
    private static let removeThrough = Query(
        "DELETE FROM applied WHERE client_high = ? AND client_low = ? AND sequence <= ?")
    private static let removeAll = Query("DELETE FROM applied WHERE client_high = ? AND client_low = ?")
    private static let removeOrphans = Query(
        "DELETE FROM applied WHERE NOT EXISTS (SELECT 1 FROM clients WHERE high = client_high AND low = client_low)")
}
