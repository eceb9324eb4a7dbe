internal import BackhaulModel
internal import CBackhaul

// Unsafe: the items are read as the type with which they were laid out, and live as long as the batch.

/// A `bh_batch`: an array of C structs and all they point to, laid out once.
final class Batch: @unchecked Sendable {
    // Unchecked: nothing changes after init, so any thread may read what the pointers point to.
    let count: Int
    let more: Bool
    private let items: UnsafeRawPointer
    /// The C struct of the items. Each kind of batch has its own.
    private let itemType: Any.Type
    private let arena: Arena

    init<Value, Item: BitwiseCopyable>(
        _ values: [Value], more: Bool = false, _ make: (Value, inout Arena) -> Item
    ) {
        var arena = Arena()
        let items = arena.room(for: values.count, of: Item.self)
        for (index, value) in values.enumerated() { (items + index).initialize(to: make(value, &arena)) }
        count = values.count
        self.more = more
        self.items = UnsafeRawPointer(items)
        itemType = Item.self
        self.arena = arena
    }

    /// Nil when the batch holds another kind or fewer items.
    func item<Item>(at index: Int) -> UnsafePointer<Item>? {
        guard itemType == Item.self, index >= 0, index < count else { return nil }
        return items.assumingMemoryBound(to: Item.self) + index
    }
}

extension Batch {
    /// Lays out the reply to a listing or a poll. `storePath`: as the host has opened it.
    convenience init(_ reply: Reply, storePath: String) throws(Failure) {
        switch reply {
        case .events(let events, let more): self.init(events, more: more, bh_event.init(_:in:))
        case .tasks(let tasks, let more): self.init(tasks, more: more, bh_task.init(_:in:))
        case .sessions(let sessions): self.init(sessions, bh_session_info.init(_:in:))
        case .configuration(let configuration): self.init([configuration], bh_session_configuration.init(_:in:))
        case .challenges(let challenges): self.init(challenges, bh_challenge.init(_:in:))
        case .attempts(let attempts): self.init(attempts, bh_attempt.init(_:in:))
        case .limits(let limits): self.init([limits]) { limits, _ in bh_limits(limits) }
        case .waits(let waits): self.init(waits, bh_wait.init(_:in:))
        case .conditions(let conditions): self.init(conditions, bh_condition.init(_:in:))
        case .holds(let holds): self.init(holds, bh_hold.init(_:in:))
        case .networks(let networks): self.init(networks, bh_network.init(_:in:))
        case .activities(let activities): self.init(activities, bh_activity.init(_:in:))
        case .currentLaunch(let launch): self.init(launch.map { [$0] } ?? [], bh_launch.init(_:in:))
        case .launches(let launches): self.init(launches, bh_launch_info.init(_:in:))
        case .engine(let engine): self.init([engine]) { bh_engine_info($0, storePath: storePath, in: &$1) }
        case .failed, .done, .count, .session, .enqueued, .completed: throw StartedVerb.otherReply
        }
    }

    /// Requests of an enqueue that were found by their keys.
    convenience init(existing: [(request: Int, Enqueued)]) {
        self.init(existing) { task, _ in bh_existing_task(task.1, of: task.request) }
    }
}

extension Reply {
    /// A batch can be made of it.
    var isListing: Bool {
        switch self {
        case .events, .tasks, .sessions, .configuration, .challenges, .attempts, .limits, .waits, .conditions, .holds,
            .networks, .activities, .currentLaunch, .launches, .engine:
            true
        case .failed, .done, .count, .session, .enqueued, .completed: false
        }
    }
}
