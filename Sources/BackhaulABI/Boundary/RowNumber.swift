internal import BackhaulModel

// A row number of SQLite is at most Int64.max, so a larger number from the host is reduced to Int64.max. No row has the
// number Int64.max, so the reduced number finds no row, either.
extension TaskID {
    init(hostValue number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}

extension EventID {
    init(hostValue number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}

extension ChallengeID {
    init(hostValue number: UInt64) { self.init(rawValue: min(number, UInt64(Int64.max))) }
}
