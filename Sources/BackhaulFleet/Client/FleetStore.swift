public import BackhaulClient
public import BackhaulModel
internal import BackhaulPlatform

/// A fleet as the store of a client: a queue in PostgreSQL, which workers drain.
public struct FleetStore: RemoteStore {
    /// How often the thread asks for new events. It is the longest delay of an event.
    private static let tickMilliseconds: Int64 = 200

    private let address: DatabaseAddress

    public init(_ address: DatabaseAddress) { self.address = address }

    public func serve(
        _ hello: Hello, connected: (any ClientTransport) -> Bool, deliver: (EngineMessage) -> Void
    ) throws(Failure) {
        do throws(FleetError) {
            let commands = try FleetCommands(try Schema.open(address), hello)
            let inbox = CommandInbox()
            guard connected(inbox) else { return }
            try serve(commands, inbox, deliver)
        } catch {
            throw error.failure
        }
    }

    public func isAway() -> Bool { DatabaseConnection.isAway(address) }

    private func serve(
        _ commands: FleetCommands, _ inbox: CommandInbox, _ deliver: (EngineMessage) -> Void
    ) throws(FleetError) {
        var tick = Deadline.after(milliseconds: 0)
        while true {
            switch inbox.next(until: tick) {
            case .closed: return try commands.close()
            case .messages(let messages):
                for case .command(let sequence, let repliedThrough, let command) in messages {
                    let reply = try commands.perform(command, sequence, repliedThrough: repliedThrough)
                    if let reply { deliver(.reply(sequence: sequence, reply)) }
                }
            case .timedOut: break
            }
            guard tick.hasPassed else { continue }
            for message in try commands.tick() { deliver(message) }
            tick = .after(milliseconds: Self.tickMilliseconds)
        }
    }
}
