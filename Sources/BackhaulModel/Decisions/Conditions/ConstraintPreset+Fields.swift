extension ConstraintPreset {
    /// The fields that a preset stands for. They are defined only here, and described at `BH_PRESET_` in the header.
    ///
    /// | preset | fields |
    /// | --- | --- |
    /// | discretionary | external power; an unmetered network; not hotter than fair; 10,000 bytes per second |
    /// | overnight | the fields of `discretionary`; quiet hours from 07:00 to 23:00 |
    ///
    /// 10,000 bytes per second is a tenth of a poor mobile connection's rate. At a lower rate, a discretionary transfer
    /// costs more energy of radio and processor than it is worth.
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
    /// The constraints with the preset replaced by its fields. A field that is stated beside a preset replaces the
    /// preset's field, even if it demands less. With `withPreset` false, the preset is ignored.
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
