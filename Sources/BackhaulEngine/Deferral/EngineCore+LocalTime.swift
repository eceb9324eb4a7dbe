internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Clocks on the wall, as far as quiet hours or budgets depend on them: their zone may be changed, and they may be set.
extension EngineCore {
    /// After any change of what is held.
    func watchTimeZone() {
        let matters = deferral.hasDelayed || deferral.classes.contains { key, state in
            state.constraints.quietHours != nil || hasBudgets(key.session)
        }
        guard matters != (deferral.timeZone != nil) else { return }
        guard matters else {
            deferral.timeZone?.watch.cancel()
            deferral.timeZone = nil
            return
        }
        do throws(SystemError) {
            let zone = try TimeZoneWatch()
            let watch = try loop.watch(zone.number, .readable) { [unowned self] _ in
                let change = zone.takeChanges()
                if change == .end {
                    // The next look makes another, as soon as there is something to watch.
                    deferral.timeZone?.watch.cancel()
                    deferral.timeZone = nil
                }
                if change != .none { clockWasSet() }
            }
            deferral.timeZone = (zone, watch)
            Clock.readTimeZone()
        } catch {
            // Looked at again with every look, which is at the next begin or end of what it matters for.
            Clock.readTimeZone()
        }
    }

    /// The calendar or its zone is another, or the machine has slept.
    func clockWasSet() {
        guard !hasFailed, !isLeaving else { return }
        look()
        releaseDelayed()
    }
}
