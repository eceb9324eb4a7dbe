/// SplitMix64 (Steele, Lea and Flood, 2014). The same seed gives the same numbers on each machine.
struct Random {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mix(state)
    }

    static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func int(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// A number between the bounds whose order of magnitude is equally distributed.
    mutating func magnitude(_ range: ClosedRange<Int64>) -> Int64 {
        var bound = range.upperBound
        while bound / 4 > range.lowerBound, next() % 3 != 0 { bound /= 4 }
        return int(range.lowerBound...bound)
    }

    mutating func chance(_ percent: Int64) -> Bool { int(1...100) <= percent }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(next() % UInt64(values.count))] }
}
