import Backhaul

extension Watch {
    /// Opens a session. The *consumer* of a session is the process that reads the session's events. If no other process
    /// is the consumer, this process becomes the consumer.
    /// - Parameter open: Creates the session or attaches to it.
    static func join(
        role: Role = .consume, _ open: (Role) throws(CommandError) -> Session
    ) throws(CommandError) -> (Session, isConsumer: Bool) {
        do {
            return (try open(role), true)
        } catch {
            // If another process is the consumer, that process reads the events. So this command follows the transfers
            // without events.
            guard error.status == .inUse else { throw error }
            return (try open(.produce), false)
        }
    }
}
