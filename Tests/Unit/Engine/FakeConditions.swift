import BackhaulModel
import BackhaulPlatform

@testable import BackhaulEngine

/// Fake conditions (power, network and others), which a test sets instead of the system's conditions.
final class FakeConditions: Sendable {
    private struct State {
        var conditions: Conditions
        var needs: ConditionSet = []
        var allNeeds: ConditionSet = []
        var pending: ConditionSet = []
        var isReadyToSleep = false
        var changed: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    init(_ conditions: Conditions = Conditions()) { state = Lock(State(conditions: conditions)) }

    /// Changes the conditions. `pending`: the conditions that count as not read yet.
    func setConditions(pending: ConditionSet = [], _ change: (inout Conditions) -> Void) {
        let changed = state.change { state in
            change(&state.conditions)
            state.pending = pending
            return state.changed
        }
        changed?()
    }

    /// The conditions that the engine needs now.
    var needs: ConditionSet { state.withLock { $0.needs } }

    /// All conditions that the engine has needed until now.
    var allNeeds: ConditionSet { state.withLock { $0.allNeeds } }

    /// Whether the engine has reported that the machine may sleep. The engine reports this when all received bytes are
    /// on the disk, or when the longest delay of the sleep has passed.
    var isReadyToSleep: Bool { state.withLock { $0.isReadyToSleep } }

    /// Makes the source that an engine uses in place of the system's conditions.
    func source(_ changed: @escaping @Sendable () -> Void) -> any ConditionsSource {
        state.change { $0.changed = changed }
        return Source(fake: self)
    }

    private final class Source: ConditionsSource {
        private let fake: FakeConditions
        var metered: [String: Bool] = [:]
        var pending: ConditionSet { fake.state.withLock { $0.pending.intersection($0.needs) } }

        init(fake: FakeConditions) { self.fake = fake }

        var needs: ConditionSet {
            get { fake.needs }
            set {
                fake.state.change { state in
                    state.needs = newValue
                    state.allNeeds.formUnion(newValue)
                }
            }
        }

        var current: Conditions {
            var conditions = fake.state.withLock { $0.conditions }
            if let name = conditions.network.value?.name, let isMetered = metered[name] {
                conditions.isMetered = Reading(isMetered, source: "configured")
            }
            return conditions
        }

        func readAll(then: @escaping (Conditions) -> Void) { then(current) }
        func readyToSleep() { fake.state.change { $0.isReadyToSleep = true } }
        func close() { fake.state.change { $0.changed = nil } }
    }
}
