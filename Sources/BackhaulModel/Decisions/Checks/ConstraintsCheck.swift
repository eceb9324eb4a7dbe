/// Checks of the constraints of a task or of a session.
public enum ConstraintsCheck {
    public static func check(_ constraints: Constraints) throws(Failure) {
        var (constraints, ranges) = (constraints, RangeCheck())
        try constraints.visitFields(with: &ranges)
        try checkContradictions(constraints)
    }

    /// Checks constraints whose values are within their ranges.
    static func checkContradictions(_ constraints: Constraints) throws(Failure) {
        if constraints.networks?.isEmpty == true { throw invalid("networks is empty: it would never run") }
        if constraints.maximumThermalState == .critical {
            throw invalid("maximum_thermal_state is BH_THERMAL_CRITICAL, in which nothing runs; give a lower one")
        }
        if let hours = constraints.quietHours {
            guard !hours.coversEverything else { throw invalid("quiet_hours cover the whole week: it would never run") }
        }
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
