public import BackhaulModel

/// Ensures that a command is applied once: its reply is stored until the client is known to have it.
public struct CommandOperations {
    let tables: Tables

    /// Returns the stored reply to a command, or nil if the command was not applied.
    public func reply(to command: CommandID) throws(Failure) -> [UInt8]? {
        try tables.commands.reply(to: command.client, try sequence(command))
    }

    /// Stores the reply. It must be called in the transaction that applies the command.
    public func remember(_ command: CommandID, reply: [UInt8]) throws(Failure) {
        try tables.commands.insert(command.client, try sequence(command), reply: reply)
    }

    /// Removes the replies up to this sequence, because the client has them.
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
