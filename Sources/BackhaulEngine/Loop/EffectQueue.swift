/// Effects that are not applied yet, in the order in which the parts have returned them.
struct EffectQueue {
    private var effects: [EngineEffect] = []
    private var nextIndex = 0

    mutating func add(_ more: [EngineEffect]) { effects += more }

    /// Removes and returns the first effect.
    mutating func next() -> EngineEffect? {
        guard nextIndex < effects.count else {
            effects.removeAll(keepingCapacity: true)
            nextIndex = 0
            return nil
        }
        nextIndex += 1
        return effects[nextIndex - 1]
    }
}
