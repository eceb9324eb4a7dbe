internal import BackhaulModel

// SQLite's row numbers end at Int64.max. A larger number from the host names no row either.
extension TaskID {
    init(ofHost number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}

extension EventID {
    init(ofHost number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}

extension ChallengeID {
    init(ofHost number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}
