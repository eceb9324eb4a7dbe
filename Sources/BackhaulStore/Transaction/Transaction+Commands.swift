public import BackhaulModel

/// Commands are applied once: what was answered is kept until the client is known to have the answer.
extension Transaction {
    /// The reply to a command that is applied already.
    public func applied(_ command: CommandID) throws(Failure) -> [UInt8]? {
        try connection.first(
            Self.select, .bits(command.client.high), .bits(command.client.low), .integer(try sequence(command))
        ) { row throws(Failure) in row.optionalBlob() } ?? nil
    }

    /// In the transaction that applies the command.
    public func remember(_ command: CommandID, reply: [UInt8]) throws(Failure) {
        try connection.run(
            Self.insert, .bits(command.client.high), .bits(command.client.low), .integer(try sequence(command)),
            .blob(reply))
    }

    /// The client has the replies to all its commands up to this sequence.
    public func forget(_ client: ClientID, through sequence: UInt64) throws(Failure) {
        try connection.run(Self.delete, .bits(client.high), .bits(client.low), .number(sequence))
    }

    private func sequence(_ command: CommandID) throws(Failure) -> Int64 {
        guard let sequence = Int64(exactly: command.sequence) else {
            throw Failure(.invalidArgument, "the command's number \(command.sequence) is out of range")
        }
        return sequence
    }

    private static let select = Query(
        "SELECT reply FROM applied WHERE client_high = ? AND client_low = ? AND sequence = ?")
    private static let insert = Query(
        "INSERT OR REPLACE INTO applied (client_high, client_low, sequence, reply) VALUES (?, ?, ?, ?)")
    private static let delete = Query(
        "DELETE FROM applied WHERE client_high = ? AND client_low = ? AND sequence <= ?")
}
