internal import BackhaulStore

/// A wait record (when and why tasks waited) that is in the store, or is being written there.
struct WaitRow: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// The ids of the wait records. A record gets its id when it has been written. The wait may be over by then.
struct WaitRows {
    private enum State {
        case inserting(endsAt: Int64?)
        case row(WaitID)
    }

    private var last: UInt64 = 0
    private var states: [WaitRow: State] = [:]

    mutating func begin() -> WaitRow {
        last += 1
        let row = WaitRow(number: last)
        states[row] = .inserting(endsAt: nil)
        return row
    }

    /// Adds a record that an earlier engine has begun.
    mutating func adopt(_ id: WaitID) -> WaitRow {
        let row = begin()
        states[row] = .row(id)
        return row
    }

    /// Stores the id of a record that was written. If the wait has ended meanwhile, returns the time of its end.
    mutating func inserted(_ row: WaitRow, _ id: WaitID) -> Int64? {
        guard case .inserting(let end) = states[row] else { return nil }
        states[row] = end == nil ? .row(id) : nil
        return end
    }

    /// Forgets a record that the store could not write. Its wait will not be listed.
    mutating func insertFailed(_ row: WaitRow) { states[row] = nil }

    /// Ends the record. Returns the id of the record, so that the caller ends the record in the store. Returns nil
    /// while the record is being written.
    mutating func end(_ row: WaitRow, at time: Int64) -> WaitID? {
        switch states[row] {
        case .row(let id):
            states[row] = nil
            return id
        case .inserting:
            states[row] = .inserting(endsAt: time)
            return nil
        case nil: return nil
        }
    }
}
