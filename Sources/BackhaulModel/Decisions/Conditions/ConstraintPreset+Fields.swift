extension ConstraintPreset {
    /// The fields that a preset stands for: the only place where that is said, beside `BH_PRESET_` in the header.
    ///
    /// | preset | fields |
    /// | --- | --- |
    /// | discretionary | external power; an unmetered network; not hotter than fair; 10,000 bytes per second |
    /// | overnight | those, and quiet hours from 07:00 to 23:00 |
    ///
    /// 10,000 bytes per second is a tenth of what a poor mobile connection gives: with less, a discretionary transfer
    /// costs the radio and the processor more than it brings.
    public var fields: Constraints {
        var fields = Constraints()
        fields.requiresExternalPower = true
        fields.requiresUnmetered = true
        fields.maximumThermalState = .fair
        fields.minimumBytesPerSecond = 10_000
        switch self {
        case .discretionary: break
        case .overnight: fields.quietHours = QuietHours(spans: [.init(begin: 7 * 60, end: 23 * 60)])
        }
        return fields
    }
}

extension Constraints {
    /// What was stated, with a preset written out. A field that is stated beside a preset takes the preset's place,
    /// also where it asks for less. `withPreset`: false leaves the preset's wishes out.
    func expanded(withPreset: Bool = true) -> Constraints {
        var fields = withPreset ? preset?.fields ?? .none : .none
        func take<Value>(_ field: WritableKeyPath<Constraints, Value?>) {
            if let stated = self[keyPath: field] { fields[keyPath: field] = stated }
        }
        take(\.requiresExternalPower)
        take(\.requiresUnmetered)
        take(\.networks)
        take(\.minimumBatteryPercent)
        take(\.maximumThermalState)
        take(\.maximumCPUPressurePercent)
        take(\.maximumIOPressurePercent)
        take(\.maximumMemoryPressurePercent)
        take(\.minimumBytesPerSecond)
        take(\.quietHours)
        return fields
    }
}
