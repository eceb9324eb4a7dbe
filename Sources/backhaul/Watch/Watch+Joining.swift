import CBackhaul

extension Watch {
    /// The session with these settings, as its consumer where nobody else is.
    static func join(
        _ application: Application, _ settings: SessionSettings
    ) throws(CommandError) -> (Session, isConsumer: Bool) {
        do {
            return (try application.create(settings, role: BH_ROLE_CONSUME), true)
        } catch {
            // Another command reads the session's events. Its transfers can be followed beside it all the same.
            guard case .failure(let failure) = error, failure.is(BH_IN_USE) else { throw error }
            return (try application.create(settings, role: BH_ROLE_PRODUCE), false)
        }
    }
}
