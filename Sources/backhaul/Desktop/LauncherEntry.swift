import BackhaulBus

/// The progress on the icon of Backhaul in docks and task managers that follow Unity's LauncherEntry.
final class LauncherEntry {
    private let bus: SessionBus
    private let desktopEntry: String
    private var shown: [String: BusValue] = [:]

    init(_ bus: SessionBus, desktopEntry: String) {
        self.bus = bus
        self.desktopEntry = desktopEntry
    }

    /// - Parameter isUrgent: Whether a credential is needed.
    func show(_ reading: DesktopReading, isUrgent: Bool) throws(CommandError) {
        let jobs = reading.jobs.values
        let share = jobs.isEmpty ? 0 : jobs.reduce(0) { $0 + $1.share } / Double(jobs.count)
        // A percent is the smallest step that a dock shows.
        let properties: [(name: String, value: BusValue)] = [
            ("progress", .double((share * 100).rounded(.down) / 100)), ("progress-visible", .bool(!jobs.isEmpty)),
            ("count", .int64(Int64(reading.running))), ("count-visible", .bool(reading.running > 0)),
            ("urgent", .bool(isUrgent)),
        ]
        try update(properties)
    }

    /// Shows only whether a credential is needed. KDE's server of jobs sends the other values for each job. Values that
    /// were shown before its start are hidden.
    func show(isUrgent: Bool) throws(CommandError) {
        try update([
            ("progress-visible", .bool(false)), ("count-visible", .bool(false)), ("urgent", .bool(isUrgent)),
        ])
    }

    private func update(_ properties: [(name: String, value: BusValue)]) throws(CommandError) {
        // Nothing is on the icon before the first signal.
        let changed = properties.filter { (shown[$0.name] ?? LauncherEntry.initial($0.value)) != $0.value }
        if changed.isEmpty { return }
        for (name, value) in changed { shown[name] = value }
        try bus.emit(
            "Update", of: DesktopService.launcher, path: "/com/canonical/Unity/LauncherEntry",
            [.string("application://\(desktopEntry).desktop"), .properties(changed)])
    }

    private static func initial(_ value: BusValue) -> BusValue? {
        switch value {
        case .bool: .bool(false)
        case .int64: .int64(0)
        case .double: .double(0)
        default: nil
        }
    }
}
