import BackhaulModel

/// One session with one lane at an origin beyond the uplink, and the decisions about its tasks. A test changes the
/// facts, and judges the tasks again.
struct HoldsFixture {
    static let session = SessionID(rawValue: 1)
    static let lane = Lane(
        id: LaneID(rawValue: 1), session: session, origin: Origin(scheme: "https", server: "example.org", port: 443))
    static let group = ConstraintGroup(.session, in: lane)
    static let key = LaneGroup(lane: lane.id, constraints: .session)
    static let tasks = HeldTasks.constraintGroup(group)

    var holds = Holds()
    var facts = HoldFacts(wall: 1_700_000_000_000, boot: 1_000_000)
    var configuration = SessionConfiguration(identifier: "photos")

    init(_ change: (inout SessionConfiguration) -> Void = { _ in }) {
        facts.lanes = [Self.lane.id: Self.lane]
        configure(change)
    }

    mutating func configure(_ change: (inout SessionConfiguration) -> Void) {
        change(&configuration)
        facts.sessions[Self.session] = configuration
        holds.configurationChanged(of: Self.session, configuration)
    }

    /// Adds the group, and judges it.
    mutating func begin() -> [HoldAction] {
        _ = holds.add(Self.group, configuration)
        return judge()
    }

    mutating func judge() -> [HoldAction] { holds.judge(facts) }

    mutating func advance(milliseconds: Int64) {
        facts.boot += milliseconds
        facts.wall += milliseconds
    }

    /// Tasks of the lane wait in the store.
    mutating func wait() -> Set<ConstraintsID> { holds.setWaiting([.session], in: Self.lane, isAll: false) }

    var state: GroupState? { holds.groups[Self.group] }

    /// Lets attempts at three origins fail.
    mutating func loseUplink(_ suffix: String = ".example") -> Bool {
        ["a", "b", "c"].map { fail(at: $0 + suffix) }.contains(true)
    }

    mutating func fail(at server: String, origins: Set<Origin> = []) -> Bool {
        holds.attemptEnded(at: Self.origin(server), .unreachable, origins: { origins }, now: facts.boot)
    }

    mutating func respond(at server: String) -> Bool {
        holds.attemptEnded(at: Self.origin(server), .responded, origins: { [] }, now: facts.boot)
    }

    static func origin(_ server: String) -> Origin { Origin(scheme: "https", server: server, port: 443) }
}

extension [HoldAction] {
    var stopped: [HeldTasks] { compactMap { if case .stop(let tasks, _, _) = $0 { tasks } else { nil } } }
    var unloaded: [HeldTasks] { compactMap { if case .unload(let tasks) = $0 { tasks } else { nil } } }
    var loaded: [Set<UInt64>] {
        compactMap { if case .load(let lanes) = $0 { Set(lanes.map(\.rawValue)) } else { nil } }
    }
    var begun: [WaitReason] { compactMap { if case .beginWait(_, let hold, _) = $0 { hold.reason } else { nil } } }
    var ended: [HeldTasks] { compactMap { if case .endWait(let tasks) = $0 { tasks } else { nil } } }
    var probes: [ProbeKind] { compactMap { if case .loadProbe(_, let kind) = $0 { kind } else { nil } } }
}
