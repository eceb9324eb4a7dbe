internal import BackhaulConditions
internal import BackhaulModel
internal import BackhaulPlatform

/// What the system offers, as far as something depends on it: power, heat, pressure, the network.
///
/// One for the store. Nothing is read that no task depends on.
final class ConditionsMonitor {
    /// What a look has found beside the conditions themselves.
    struct Findings {
        /// The network over which bytes move, once all sources agree on it.
        var network: Network?
        /// Measurements of an earlier network say nothing about the present one.
        var isOtherNetwork = false
        var connectivity: ConnectivityState?
    }

    private let runtime: any Runtime
    private let makeSource: (@escaping () -> Void) -> any ConditionsSource
    private var source: (any ConditionsSource)?
    private var filter = ConditionsFilter()
    /// As decisions see them.
    private(set) var conditions = Conditions()
    /// When the filter may see something better, by the boot clock.
    private(set) var nextLook: Int64?
    /// As they were last read.
    private(set) var read: Conditions?
    /// Since when each condition is as it was last read, in Unix milliseconds.
    private(set) var since: [ConditionKind: Int64] = [:]
    /// What the administrator says of networks, by their names.
    private var metered: [String: Bool] = [:]
    private var lastNetwork: Network?
    private var isChangePlanned = false

    /// - makeSource: is given what to call when a condition changes.
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

    /// A condition has changed. A source may say so while it is asked for more: decisions that are under way are not
    /// entered again.
    func sourceChanged() {
        guard !isChangePlanned else { return }
        isChangePlanned = true
        runtime.afterThisTurn { [unowned self] in takeChange() ? [.conditionsChanged] : [] }
    }

    /// Whether a source has reported a change that was not taken since.
    func takeChange() -> Bool {
        defer { isChangePlanned = false }
        return isChangePlanned
    }

    // MARK: Needs

    /// The first readings of all of these have come.
    func isRead(_ needs: ConditionNeeds) -> Bool {
        needs.isEmpty || source.map { needs.isSubset(of: $0.needs.subtracting($0.pending)) } ?? false
    }

    /// Something depends on these, too.
    func need(_ more: ConditionNeeds) {
        guard !more.isSubset(of: source?.needs ?? []) else { return }
        sourceInUse().needs.formUnion(more)
    }

    /// Nothing depends on anything else.
    func setNeeds(_ needs: ConditionNeeds) {
        if source != nil || !needs.isEmpty { sourceInUse().needs = needs }
        filter.forget(except: needs)
    }

    func setMetered(_ metered: [String: Bool]) {
        self.metered = metered
        source?.metered = metered
    }

    /// The network is read, and all sources agree on it: the kernel answers before the bus does, and has another name
    /// for the same network.
    var knowsNetwork: Bool {
        source.map { $0.needs.contains(.network) && !$0.pending.contains(.network) } ?? false
    }

    // MARK: Looking

    /// Reads what the source has by now; `decide` makes it what decisions see. Nil when nothing is read.
    func look() -> Findings? {
        guard let source else { return nil }
        let current = source.current
        noteTimes(current)
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
        (conditions, nextLook) = filter.take(
            source.current, of: source.needs, pending: source.pending, now: runtime.now)
    }

    /// What the system offers now, read for this if nothing depends on it.
    func readAll(then: @escaping (Conditions) -> Void) {
        sourceInUse().readAll { [unowned self] conditions in
            noteTimes(conditions)
            then(conditions)
        }
    }

    private func noteTimes(_ conditions: Conditions) {
        since = ConditionTexts.since(since, from: read, to: conditions, now: Clock.wallMilliseconds)
        read = conditions
    }

    /// The system need not wait for us before it sleeps.
    func readyToSleep() { source?.readyToSleep() }
}
