import BackhaulModel

/// Returns the failure that the body throws, or nil if the body throws nothing.
func failure<Result>(_ body: () throws(Failure) -> Result) -> Failure? {
    do throws(Failure) {
        _ = try body()
        return nil
    } catch let failure {
        return failure
    }
}
