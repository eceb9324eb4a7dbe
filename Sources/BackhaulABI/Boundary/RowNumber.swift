internal import BackhaulModel

// Row numbers of SQLite end at Int64.max; what the host gives beyond names no row either.
extension TaskID {
    init(ofHost number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}

extension EventID {
    init(ofHost number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}

extension ChallengeID {
    init(ofHost number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}
