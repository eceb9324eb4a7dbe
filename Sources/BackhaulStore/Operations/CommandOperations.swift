public import BackhaulModel

/// Ensures that each command of a *client* (the library in a program) is applied only one time. The reply is stored
/// until it is known that the client has the reply.
public struct CommandOperations {
    let tables: Tables

    /// Returns the stored reply to a command, or nil if the command was not applied.
    public func reply(to command: CommandID) throws(Failure) -> [UInt8]? {
        try tables.commands.reply(to: command.client, try sequence(command))
    }

    /// Stores the reply. This function must be called in the transaction that applies the command.
    public func remember(_ command: CommandID, reply: [UInt8]) throws(Failure) {
        try tables.commands.insert(command.client, try sequence(command), reply: reply)
    }

    /// Removes the replies up to this sequence number, because the client has these replies.
    public func forget(_ client: ClientID, through sequence: UInt64) throws(Failure) {
        try tables.commands.remove(client, through: sequence)
    }

    private func sequence(_ command: CommandID) throws(Failure) -> Int64 {
        guard let sequence = Int64(exactly: command.sequence) else {
            throw Failure(.invalidArgument, "the command's number \(command.sequence) is out of range")
        }
        return sequence
    }
}
