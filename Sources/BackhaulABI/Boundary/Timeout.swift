internal import BackhaulModel
internal import BackhaulPlatform
internal import CBackhaul

/// Reads the argument `timeout_ms`.
enum Timeout {
    private static let defaultMilliseconds: Int64 = 30_000

    static func milliseconds(_ argument: Int32) throws(Failure) -> Int64 {
        if argument == BH_WAIT_DEFAULT { return defaultMilliseconds }
        guard argument >= 0, argument <= BH_WAIT_MAXIMUM else {
            throw Failure(
                .invalidArgument,
                argument == BH_START
                    ? "timeout_ms is BH_START, but this call starts nothing; give 0 to \(BH_WAIT_MAXIMUM) milliseconds"
                    : "timeout_ms is \(argument), and there is no endless wait; give 0 to \(BH_WAIT_MAXIMUM) "
                        + "milliseconds, or BH_WAIT_DEFAULT")
        }
        return Int64(argument)
    }

    static func deadline(_ argument: Int32) throws(Failure) -> Deadline {
        .after(milliseconds: try milliseconds(argument))
    }

    /// The deadline of a call. Nil if the call only starts its operation (`BH_START`).
    static func deadlineOrAsync(_ argument: Int32) throws(Failure) -> Deadline? {
        argument == BH_START ? nil : try deadline(argument)
    }
}
