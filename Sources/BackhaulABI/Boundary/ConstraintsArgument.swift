internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the structs and their texts can be read until the call returns. They are copied
// here.

/// Reads `bh_constraints`. NULL means no constraints.
enum ConstraintsArgument {
    static func read(_ pointer: UnsafePointer<bh_constraints>?) throws(Failure) -> Constraints {
        guard var given = pointer?.pointee else { return .none }
        var constraints = Constraints()
        try FieldExchange.read { (exchange) throws(Failure) in try exchange.fields(&given, &constraints) }
        try ConstraintsCheck.check(constraints)
        return constraints
    }
}

/// Reads the fields of `bh_network` that a host sets.
enum NetworkArgument {
    private static let minimumSize = StructArgument.end(of: \bh_network.month_ends_ms)

    static func read(_ pointer: UnsafePointer<bh_network>?) throws(Failure) -> NetworkSettings {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "network"), "network", into: bh_network(), minimumSize: minimumSize)
        try StructArgument.checkReserved(
            UInt64(given.reserved.0), UInt64(given.reserved.1), UInt64(given.reserved.2), in: "network")
        var settings = NetworkSettings(
            name: try TextArgument.required(given.name, "network.name", limit: Limits.identifierSize))
        settings.isMetered = try PolicyArgument.choice(given.metered, "metered")
        if given.month_starts_on > 0 {
            guard let day = UInt8(exactly: given.month_starts_on), (1...28).contains(day) else {
                throw Failure(.invalidArgument, "month_starts_on is \(given.month_starts_on); give 1 to 28")
            }
            settings.monthStartsOn = day
        }
        settings.budget = budget(given.budget)
        try NetworkCheck.check(settings)
        return settings
    }

    static func budget(_ given: bh_budget) -> ByteBudget {
        ByteBudget(daily: bytes(given.daily), monthly: bytes(given.monthly))
    }

    /// Converts a budget (a limit on the bytes in a day or month) from the header's form. Returns 0 for
    /// `BH_BUDGET_NOTHING`, which means a limit of 0 bytes. Returns nil for 0, which means no limit.
    private static func bytes(_ given: UInt64) -> UInt64? {
        switch given {
        case 0: nil
        case UInt64.max: 0
        default: given
        }
    }
}

/// Reads the fields of `bh_activity` that a host sets.
enum ActivityArgument {
    private static let minimumSize = StructArgument.end(of: \bh_activity.url)

    static func read(_ pointer: UnsafePointer<bh_activity>?) throws(Failure) -> Activity {
        let given = try StructArgument.read(
            NumberArgument.required(pointer, "activity"), "activity", into: bh_activity(), minimumSize: minimumSize)
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
            activity.request = try RequestArgument.readSingle(request)
        }
        activity.firstMilliseconds = PolicyArgument.unlessZero(given.first_ms)
        try ActivityCheck.check(activity)
        return activity
    }
}
