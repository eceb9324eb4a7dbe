public import BackhaulModel

/// Commands are applied once: a reply is kept until the client is known to have it.
public struct CommandOperations {
    let tables: Tables

    /// The reply to a command that is applied already.
    public func reply(to command: CommandID) throws(Failure) -> [UInt8]? {
        try tables.commands.reply(to: command.client, try sequence(command))
    }

    /// In the transaction that applies the command.
    public func remember(_ command: CommandID, reply: [UInt8]) throws(Failure) {
        try tables.commands.insert(command.client, try sequence(command), reply: reply)
    }

    /// The client has the replies to all its commands up to this sequence.
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
