internal import BackhaulModel

/// The table `applied` has the replies to commands that were applied. A reply stays in the table until the client (the
/// library in a program) has received it.
struct CommandTable {
    let connection: Connection

    func reply(to client: ClientID, _ sequence: Int64) throws(Failure) -> [UInt8]? {
        try connection.first(
            Self.select, .bits(client.high), .bits(client.low), .integer(sequence)
        ) { row throws(Failure) in row.optionalBlob() } ?? nil
    }

    func insert(_ client: ClientID, _ sequence: Int64, reply: [UInt8]) throws(Failure) {
        try connection.run(
            Self.insert, .bits(client.high), .bits(client.low), .integer(sequence), .blob(reply))
    }

    func remove(_ client: ClientID, through sequence: UInt64) throws(Failure) {
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
