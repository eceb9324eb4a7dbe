import CBackhaul

extension Watch {
    /// Creates or attaches the session with these settings, as its consumer if it has no other one.
    static func join(
        _ application: Application, _ settings: SessionSettings
    ) throws(CommandError) -> (Session, isConsumer: Bool) {
        do {
            return (try application.create(settings, role: BH_ROLE_CONSUME), true)
        } catch {
            // Another command reads the session's events. The transfers can be followed without events.
            guard case .failure(let failure) = error, failure.is(BH_IN_USE) else { throw error }
            return (try application.create(settings, role: BH_ROLE_PRODUCE), false)
        }
    }
}
