internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulPlatform

/// The conditions on which decisions of the engine depend: power, heat, pressure, the network and sleep. A filter
/// accepts an improved condition only after the improvement has lasted for some time.
///
/// Each engine has one object of this type. Other conditions are read only for a listing.
final class ConditionsMonitor {
    /// The results of a check, in addition to the conditions.
    struct Findings {
        /// The network that transfers use; nil until all sources agree on it.
        var network: Network?
        /// Whether the network changed or is back. If so, earlier measurements do not apply to it.
        var isOtherNetwork = false
        var connectivity: ConnectivityState?
    }

    private let runtime: any Runtime
    private let makeSource: (@escaping () -> Void) -> any ConditionsSource
    private var source: (any ConditionsSource)?
    private var filter = ConditionsFilter()
    /// The conditions for decisions, after the filter.
    private(set) var conditions = Conditions()
    /// The time at which the filter may accept a better condition, by the boot clock.
    private(set) var nextCheck: Int64?
    /// The conditions that were read last, before the filter.
    private(set) var read: Conditions?
    /// For each condition: the time, in Unix milliseconds, since which it has the value that was read last.
    private(set) var since: [ConditionKind: Int64] = [:]
    /// The administrator's settings: whether networks are metered, by name.
    private var metered: [String: Bool] = [:]
    private var lastNetwork: Network?
    private var isChangePlanned = false

    /// - makeSource: makes the source. When a condition changes, the source calls the function that is passed to
    /// `makeSource`.
    init(_ runtime: any Runtime, makeSource: @escaping (@escaping () -> Void) -> any ConditionsSource) {
        self.runtime = runtime
        self.makeSource = makeSource
    }

    func close() {
        source?.close()
        source = nil
    }

    private func sourceInUse() -> any ConditionsSource {
        if let source { return source }
        let made = makeSource { [unowned self] in sourceChanged() }
        made.metered = metered
        source = made
        return made
    }

    /// Handles the source's report that a condition has changed. While another part of the engine makes a decision, it
    /// may call `need` or `setNeeds`. The source may report a change during this call. So the change is handled at the
    /// end of this iteration of the loop. Otherwise, one decision could start inside another decision.
    func sourceChanged() {
        guard !isChangePlanned else { return }
        isChangePlanned = true
        runtime.afterThisIteration { [unowned self] in takeChange() ? [.conditionsChanged] : [] }
    }

    /// Returns whether the source has reported a change since the last call.
    func takeChange() -> Bool {
        defer { isChangePlanned = false }
        return isChangePlanned
    }

    // MARK: Needs

    /// The needed conditions that have been read.
    var readConditions: ConditionSet { source.map { $0.needs.subtracting($0.pending) } ?? [] }

    func isRead(_ needs: ConditionSet) -> Bool { needs.isSubset(of: readConditions) }

    /// Adds conditions to those that are needed.
    func need(_ more: ConditionSet) {
        guard !more.isSubset(of: source?.needs ?? []) else { return }
        sourceInUse().needs.formUnion(more)
    }

    /// Sets the needed conditions. Other conditions are no longer read.
    func setNeeds(_ needs: ConditionSet) {
        if source != nil || !needs.isEmpty { sourceInUse().needs = needs }
        filter.forget(except: needs)
    }

    func setMetered(_ metered: [String: Bool]) {
        self.metered = metered
        source?.metered = metered
    }

    /// Whether the network is read and all sources agree on it. The sources disagree for a moment when the kernel
    /// reports a network before NetworkManager does, because the kernel uses another name.
    var isNetworkKnown: Bool { isRead(.network) }

    // MARK: Checks

    /// Checks what the source has read until now. Does not update `conditions`: the caller then calls `decide`, which
    /// updates them. Returns nil if no condition is read.
    func check() -> Findings? {
        guard let source else { return nil }
        let current = source.current
        recordTimes(current)
        let isBack =
            conditions.connectivity.value == ConnectivityState.none
            && current.connectivity.value.map { $0 != .none } ?? false
        var findings = Findings(isOtherNetwork: isBack, connectivity: current.connectivity.value)
        if !source.pending.contains(.network), let network = current.network.value {
            if lastNetwork != nil, network != lastNetwork { findings.isOtherNetwork = true }
            lastNetwork = network
            if isRead(.network) { findings.network = network }
        }
        return findings
    }

    func decide() {
        guard let source else { return }
        (conditions, nextCheck) = filter.take(
            source.current, of: source.needs, pending: source.pending, now: runtime.now)
    }

    /// Reads all conditions, including those that are not needed.
    func readAll(then: @escaping (Conditions) -> Void) {
        sourceInUse().readAll { [unowned self] conditions in
            recordTimes(conditions)
            then(conditions)
        }
    }

    private func recordTimes(_ conditions: Conditions) {
        since = ConditionDescriptions.since(since, from: read, to: conditions, now: runtime.clocks.wallMilliseconds)
        read = conditions
    }

    /// Reports to the system that the engine is ready for sleep, so that the system does not wait for the engine.
    func readyToSleep() { source?.readyToSleep() }
}
