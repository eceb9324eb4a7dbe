extension ConstraintPreset {
    /// The fields that a preset stands for. The fields are defined only here. The C header describes them at
    /// `BH_PRESET_`.
    ///
    /// | preset | fields |
    /// | --- | --- |
    /// | discretionary | external power; an unmetered network; not hotter than fair; 10,000 bytes per second |
    /// | overnight | the fields of `discretionary`; quiet hours from 07:00 to 23:00 |
    ///
    /// 10,000 bytes per second is a tenth of the rate of a poor mobile connection. Below 10,000 bytes per second, a
    /// discretionary transfer costs more energy of radio and processor than it is worth.
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
    /// The constraints with the preset replaced by its fields. If a field is stated in addition to the preset, the
    /// stated field replaces the preset's field, even if the stated field demands less. If `withPreset` is false, the
    /// preset is ignored.
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
