import Backhaul

extension Watch {
    /// Creates or attaches the session with these settings. The *consumer* of a session is the process that reads the
    /// session's events. If no other process is the consumer, this process becomes the consumer.
    static func join(
        _ application: Application, _ settings: SessionSettings
    ) throws(CommandError) -> (Session, isConsumer: Bool) {
        do {
            return (try application.create(settings, role: .consume), true)
        } catch {
            // If another process is the consumer, that process reads the events. So this command follows the transfers
            // without events.
            guard error.status == .inUse else { throw error }
            return (try application.create(settings, role: .produce), false)
        }
    }
}
