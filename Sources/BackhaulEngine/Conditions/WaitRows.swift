internal import BackhaulStore

/// A time of waiting that is, or will be, a row of the store.
struct WaitRow: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// Which rows they are: the store gives a row its number later than its wait begins, which may be over by then.
struct WaitRows {
    private enum State {
        case isBeing(endsAt: Int64?)
        case row(WaitID)
    }

    private var last: UInt64 = 0
    private var states: [WaitRow: State] = [:]

    mutating func begin() -> WaitRow {
        last += 1
        let row = WaitRow(number: last)
        states[row] = .isBeing(endsAt: nil)
        return row
    }

    /// One that an earlier engine has begun.
    mutating func adopt(_ id: WaitID) -> WaitRow {
        let row = begin()
        states[row] = .row(id)
        return row
    }

    /// The store has it now. Returns when it ended, if it did meanwhile.
    mutating func made(_ row: WaitRow, _ id: WaitID) -> Int64? {
        guard case .isBeing(let end) = states[row] else { return nil }
        states[row] = end == nil ? .row(id) : nil
        return end
    }

    /// The store could not make it: nobody will know of this wait later.
    mutating func lost(_ row: WaitRow) { states[row] = nil }

    /// Returns the row that is to be ended now.
    mutating func end(_ row: WaitRow, at time: Int64) -> WaitID? {
        switch states[row] {
        case .row(let id):
            states[row] = nil
            return id
        case .isBeing:
            states[row] = .isBeing(endsAt: time)
            return nil
        case nil: return nil
        }
    }
}
