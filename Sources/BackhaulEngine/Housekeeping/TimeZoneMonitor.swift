internal import BackhaulModel
internal import BackhaulPlatform

/// Watches the time zone while quiet hours (hours in which tasks wait) or budgets (bytes for each day or month) depend
/// on it.
///
/// Each engine has one object of this type.
final class TimeZoneMonitor {
    private let runtime: any Runtime
    private var zone: TimeZoneWatch?
    private var watch: (any RuntimeWatch)?

    init(_ runtime: any Runtime) { self.runtime = runtime }

    func close() {
        watch?.cancel()
        watch = nil
        zone = nil
    }

    func setNeeded(_ isNeeded: Bool) {
        guard isNeeded != (zone != nil) else { return }
        guard isNeeded else { return close() }
        do throws(SystemError) {
            let zone = try TimeZoneWatch()
            watch = try runtime.watch(zone.number) { [unowned self] in zoneChanged() }
            self.zone = zone
        } catch {
            // The zone cannot be watched, for example because inotify has no watch left. Instead, each check of the
            // conditions reads the zone. There is a check whenever quiet hours or a budget's period begin or end.
        }
        runtime.clocks.readTimeZone()
    }

    private func zoneChanged() -> [EngineEffect] {
        guard let change = zone?.takeChanges() else { return [] }
        // The next call of `setNeeded` makes another watch.
        if change == .end { close() }
        return change == .none ? [] : [.clockWasSet]
    }
}
