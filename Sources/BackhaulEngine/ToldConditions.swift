public import BackhaulModel
internal import BackhaulPlatform

/// Fake conditions, which a test sets in place of the system's.
public final class ToldConditions: Sendable {
    private struct State {
        var conditions: Conditions
        var needs: ConditionNeeds = []
        var allNeeds: ConditionNeeds = []
        var pending: ConditionNeeds = []
        var isReadyToSleep = false
        var changed: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    public init(_ conditions: Conditions = Conditions()) { state = Lock(State(conditions: conditions)) }

    /// Changes the conditions. `pending`: conditions that count as not completely read.
    public func tell(pending: ConditionNeeds = [], _ change: (inout Conditions) -> Void) {
        let changed = state.change { state in
            change(&state.conditions)
            state.pending = pending
            return state.changed
        }
        changed?()
    }

    /// The conditions that the engine needs now.
    public var needs: ConditionNeeds { state.withLock { $0.needs } }

    /// All conditions that the engine has needed until now.
    public var allNeeds: ConditionNeeds { state.withLock { $0.allNeeds } }

    /// Whether the engine has synced its bytes for a sleep of the machine.
    public var isReadyToSleep: Bool { state.withLock { $0.isReadyToSleep } }

    func source(_ changed: @escaping @Sendable () -> Void) -> any ConditionsSource {
        state.change { $0.changed = changed }
        return Source(told: self)
    }

    private final class Source: ConditionsSource {
        private let told: ToldConditions
        var metered: [String: Bool] = [:]
        var pending: ConditionNeeds { told.state.withLock { $0.pending.intersection($0.needs) } }

        init(told: ToldConditions) { self.told = told }

        var needs: ConditionNeeds {
            get { told.needs }
            set {
                told.state.change { state in
                    state.needs = newValue
                    state.allNeeds.formUnion(newValue)
                }
            }
        }

        var current: Conditions {
            var conditions = told.state.withLock { $0.conditions }
            if let name = conditions.network.value?.name, let answer = metered[name] {
                conditions.isMetered = Reading(answer, source: "configured")
            }
            return conditions
        }

        func readAll(then: @escaping (Conditions) -> Void) { then(current) }
        func readyToSleep() { told.state.change { $0.isReadyToSleep = true } }
        func close() { told.state.change { $0.changed = nil } }
    }
}
