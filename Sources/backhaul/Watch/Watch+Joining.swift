import CBackhaul

extension Watch {
    /// Creates or attaches the session with these settings. The process becomes the consumer of the session if no other
    /// process is its consumer.
    static func join(
        _ application: Application, _ settings: SessionSettings
    ) throws(CommandError) -> (Session, isConsumer: Bool) {
        do {
            return (try application.create(settings, role: BH_ROLE_CONSUME), true)
        } catch {
            // Another process reads the session's events. This command follows the transfers without events.
            guard case .failure(let failure) = error, failure.is(BH_IN_USE) else { throw error }
            return (try application.create(settings, role: BH_ROLE_PRODUCE), false)
        }
    }
}
