import Glibc

/// A long test of many alike cases tries a part of them, which its seed chooses. With the environment variable
/// BACKHAUL_ALL_CASES, as in `make soak`, it tries all.
public enum Slice {
    public static let hasAll = getenv("BACKHAUL_ALL_CASES") != nil

    /// Returns true for one of `times` cases, or for all.
    public static func includes(oneIn times: Int, using random: inout some RandomNumberGenerator) -> Bool {
        Int.random(in: 0..<times, using: &random) == 0 || hasAll
    }
}
