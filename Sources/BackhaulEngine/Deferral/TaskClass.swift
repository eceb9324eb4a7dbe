internal import BackhaulModel
internal import BackhaulStore

/// Tasks that are held and let go together: those of a session that have stated the same, to origins of one reach.
struct TaskClass: Hashable, Sendable {
    var session: SessionID
    var constraints: ConstraintsID
    var reach: Reach

    var isLocal: Bool { reach == .thisMachine }
}

/// What became of such a class.
struct ClassState {
    let constraints: EffectiveConstraints
    /// What has to be read before one of them starts.
    var needed: ConditionNeeds = []
    /// Of that something was not read yet, or is not known for a moment.
    var isUndecided = true
    /// Nil: they may run.
    var held: Held?
    /// When that was decided last, in Unix milliseconds.
    var decidedAt: Int64?

    var mayStart: Bool { !isUndecided && held == nil }
}

/// Tasks are held back, and why.
struct Held {
    /// What weighs most comes first. Never empty.
    var holds: [Hold]
    /// Unix milliseconds, of the first.
    var began: Int64
    var rows: [WaitRow]

    /// The one that is shown.
    var first: Hold? { holds.first }
    var reasons: Set<WaitReason> { Set(holds.map(\.reason)) }
}
