import CBackhaul

/// An activity that a command creates: work that repeats.
struct Activity {
    var identifier: String
    var interval: UInt64
    /// The length of each window of time in which the work may start, in milliseconds. 0 means half of the interval.
    var tolerance: UInt64 = 0
    var repeats = true
    var quality: Int32 = 0
    /// The first time at which the activity may start, in Unix milliseconds. If the value is 0, an existing activity
    /// with the same interval keeps its time. Any other activity with the value 0 may start one interval after the
    /// call.
    var first: Int64 = 0
    /// The transfer that the activity enqueues (stores, so that it is run). If it is nil, the activity delivers an
    /// event. For this event, the engine (the process that runs the transfers) launches the program that the user has
    /// registered.
    var transfer: Transfer?

    func activity(_ arena: CStringArena) -> bh_activity {
        var activity = bh_activity()
        activity.struct_size = MemoryLayout<bh_activity>.size
        activity.identifier = arena.string(identifier)
        activity.interval_ms = interval
        activity.tolerance_ms = tolerance
        activity.repeats = Int32(repeats ? BH_YES : BH_NO)
        activity.quality_of_service = quality
        activity.first_ms = first
        activity.request = arena.array(transfer.map { [$0.request(arena)] } ?? [])
        return activity
    }
}

/// A copy of an activity from a listing.
struct ActivityRecord {
    let identifier: String
    let interval: UInt64
    let tolerance: UInt64
    let repeats: Bool
    let quality: Int32
    /// When the open window (the time in which the work may start) opened. If no window is open: when the next window
    /// opens. The time is in Unix milliseconds; 0 means that there is none. `nextEnds` and `lastStarted` have the same
    /// form.
    let next: Int64
    let nextEnds: Int64
    let lastStarted: Int64
    let lastTask: UInt64
    let url: String?

    init(_ activity: bh_activity) {
        identifier = text(activity.identifier) ?? ""
        interval = activity.interval_ms
        tolerance = activity.tolerance_ms
        repeats = Int(activity.repeats) != BH_NO
        quality = activity.quality_of_service
        next = activity.next_ms
        nextEnds = activity.next_ends_ms
        lastStarted = activity.last_started_ms
        lastTask = activity.last_task
        url = text(activity.url)
    }

    var json: JSON {
        .record(of: bh_activity.self, [
            ("identifier", .string(identifier)), ("interval_ms", .number(interval)),
            ("tolerance_ms", .number(tolerance)), ("repeats", .bool(repeats)),
            ("quality_of_service", .word(quality, Names.qualities)), ("next_ms", .number(unlessZero: next)),
            ("next_ends_ms", .number(unlessZero: nextEnds)), ("last_started_ms", .number(unlessZero: lastStarted)),
            ("last_task", .number(unlessZero: lastTask)), ("url", .optional(url)),
        ])
    }
}
