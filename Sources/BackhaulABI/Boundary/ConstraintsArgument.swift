internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that texts can be read until the call returns; they are copied here.

/// The fields that sessions and tasks demand of the conditions with: those of `bh_session_configuration` and
/// `bh_policy` from `preset` on.
struct ConstraintsArgument {
    var preset: Int32
    var requiresExternalPower: Int32
    var requiresUnmetered: Int32
    var networks: UInt32
    var minimumBatteryPercent: UInt32
    var maximumThermalState: Int32
    var maximumCPUPressurePercent: UInt32
    var maximumIOPressurePercent: UInt32
    var maximumMemoryPressurePercent: UInt32
    var minimumBytesPerSecond: UInt64
    var quietHours: UnsafePointer<CChar>?

    init(_ given: bh_session_configuration) {
        preset = given.preset
        requiresExternalPower = given.requires_external_power
        requiresUnmetered = given.requires_unmetered
        networks = given.networks
        minimumBatteryPercent = given.minimum_battery_percent
        maximumThermalState = given.maximum_thermal_state
        maximumCPUPressurePercent = given.maximum_cpu_pressure_percent
        maximumIOPressurePercent = given.maximum_io_pressure_percent
        maximumMemoryPressurePercent = given.maximum_memory_pressure_percent
        minimumBytesPerSecond = given.minimum_bytes_per_second
        quietHours = given.quiet_hours
    }

    init(_ given: bh_policy) {
        preset = given.preset
        requiresExternalPower = given.requires_external_power
        requiresUnmetered = given.requires_unmetered
        networks = given.networks
        minimumBatteryPercent = given.minimum_battery_percent
        maximumThermalState = given.maximum_thermal_state
        maximumCPUPressurePercent = given.maximum_cpu_pressure_percent
        maximumIOPressurePercent = given.maximum_io_pressure_percent
        maximumMemoryPressurePercent = given.maximum_memory_pressure_percent
        minimumBytesPerSecond = given.minimum_bytes_per_second
        quietHours = given.quiet_hours
    }

    func read() throws(Failure) -> Constraints {
        var constraints = Constraints()
        if preset != 0 {
            constraints.preset = try NumberArgument.value(preset, "preset", of: "one of BH_PRESET_…")
        }
        constraints.requiresExternalPower = try PolicyArgument.choice(requiresExternalPower, "requires_external_power")
        constraints.requiresUnmetered = try PolicyArgument.choice(requiresUnmetered, "requires_unmetered")
        if networks != 0 { constraints.networks = NetworkKinds(rawValue: networks) }
        constraints.minimumBatteryPercent = try percent(minimumBatteryPercent, "minimum_battery_percent")
        if maximumThermalState != 0 {
            constraints.maximumThermalState = try NumberArgument.value(
                maximumThermalState, "maximum_thermal_state", of: "one of BH_THERMAL_…")
        }
        constraints.maximumCPUPressurePercent = try percent(maximumCPUPressurePercent, "maximum_cpu_pressure_percent")
        constraints.maximumIOPressurePercent = try percent(maximumIOPressurePercent, "maximum_io_pressure_percent")
        constraints.maximumMemoryPressurePercent = try percent(
            maximumMemoryPressurePercent, "maximum_memory_pressure_percent")
        constraints.minimumBytesPerSecond = PolicyArgument.unlessZero(minimumBytesPerSecond)
        constraints.quietHours = try quietHours(quietHours)
        return constraints
    }

    private func percent(_ number: UInt32, _ name: String) throws(Failure) -> UInt8? {
        guard number > 0 else { return nil }
        guard number <= 100 else { throw Failure(.invalidArgument, "\(name) is \(number); give 1 to 100") }
        return UInt8(number)
    }

    private func quietHours(_ pointer: UnsafePointer<CChar>?) throws(Failure) -> QuietHours? {
        guard let text = try TextArgument.optional(pointer, "quiet_hours", limit: 2_000) else { return nil }
        guard let hours = QuietHours(text) else {
            throw Failure(
                .invalidArgument,
                "quiet_hours is \"\(text)\", not hours such as \"22:00-06:30\" or \"mon-fri 08:00-18:00, "
                    + "sat 10:00-14:00\"")
        }
        return hours
    }
}

/// `bh_network`, as far as it is set.
enum NetworkArgument {
    private static let firstSize = StructArgument.end(of: \bh_network.month_ends_ms)

    static func read(_ pointer: UnsafePointer<bh_network>?) throws(Failure) -> NetworkSettings {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "network"), "network", into: bh_network(), firstSize: firstSize)
        var settings = NetworkSettings(
            name: try TextArgument.required(given.name, "network.name", limit: Limits.identifierSize))
        settings.isMetered = try PolicyArgument.choice(given.metered, "metered")
        if given.month_starts_on > 0 {
            guard let day = UInt8(exactly: given.month_starts_on), (1...28).contains(day) else {
                throw Failure(.invalidArgument, "month_starts_on is \(given.month_starts_on); give 1 to 28")
            }
            settings.monthStartsOn = day
        }
        settings.budget = budget(daily: given.daily_budget, monthly: given.monthly_budget)
        try NetworkCheck.check(settings)
        return settings
    }

    static func budget(daily: UInt64, monthly: UInt64) -> ByteBudget {
        ByteBudget(daily: bytes(daily), monthly: bytes(monthly))
    }

    /// BH_BUDGET_NOTHING stands for none, and 0 for no limit.
    private static func bytes(_ given: UInt64) -> UInt64? {
        switch given {
        case 0: nil
        case UInt64.max: 0
        default: given
        }
    }
}

/// `bh_activity`, as far as it is set.
enum ActivityArgument {
    private static let firstSize = StructArgument.end(of: \bh_activity.url)

    static func read(_ pointer: UnsafePointer<bh_activity>?) throws(Failure) -> Activity {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "activity"), "activity", into: bh_activity(), firstSize: firstSize)
        var activity = Activity(
            identifier: try TextArgument.required(
                given.identifier, "activity.identifier", limit: Limits.identifierSize),
            intervalMilliseconds: given.interval_ms,
            toleranceMilliseconds: PolicyArgument.unlessZero(given.tolerance_ms))
        activity.repeats = try PolicyArgument.choice(given.repeats, "repeats") ?? true
        if given.quality_of_service != 0 {
            activity.qualityOfService = try NumberArgument.value(
                given.quality_of_service, "quality_of_service", of: "one of BH_QUALITY_…")
        }
        if let request = given.request {
            activity.request = try RequestArgument.one(request)
        }
        activity.firstMilliseconds = PolicyArgument.unlessZero(given.first_ms)
        try ActivityCheck.check(activity)
        return activity
    }
}
