internal import BackhaulModel
internal import BackhaulPlatform
internal import CBackhaul

// Unsafe: each item is read as the type with which it was written. The items stay in memory until the batch is
// released.

/// A `bh_batch`: a list that the host gets from the engine, which runs the tasks. It is an array of C structs with
/// everything that they point to. The list does not change after `init`.
final class Batch: @unchecked Sendable {
    // Unchecked: only `resized` changes after `init`, and a mutex protects it. Any thread may read the items.
    let count: Int
    let more: Bool
    private let items: UnsafeRawPointer
    private let kind: Int32
    private let itemSize: Int
    private let arena: Arena
    /// Copies of items, for hosts in whose header the struct of an item has another size than in this library.
    private let resized = Lock<[ItemSize: UInt]>([:])

    private struct ItemSize: Hashable {
        let index: Int
        let size: Int
    }

    init<Value, Item: BatchItem & BitwiseCopyable>(
        _ values: [Value], more: Bool = false, _ make: (Value, inout Arena) -> Item
    ) {
        var arena = Arena()
        let items = arena.buffer(for: values.count, of: Item.self)
        for (index, value) in values.enumerated() { (items + index).initialize(to: make(value, &arena)) }
        count = values.count
        self.more = more
        self.items = UnsafeRawPointer(items)
        kind = Item.itemKind
        itemSize = MemoryLayout<Item>.stride
        self.arena = arena
    }

    deinit {
        for address in resized.withLock({ $0.values }) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    /// The item at an index. Nil if the batch has items of another kind or no item at this index, or if `size` is
    /// invalid. `size`: the size of the struct in the host's version of the header.
    func item(at index: Int, kind: Int32, size: Int) -> UnsafeRawPointer? {
        guard kind == self.kind, index >= 0, index < count,
            (MemoryLayout<Int>.size...StructArgument.largestSize).contains(size)
        else { return nil }
        let item = items + index * itemSize
        guard size != itemSize else { return item }
        let key = ItemSize(index: index, size: size)
        let address = resized.withLock { copies in
            if let address = copies[key] { return address }
            let copy = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<Int>.alignment)
            copy.initializeMemory(as: UInt8.self, repeating: 0, count: size)
            copy.copyMemory(from: item, byteCount: min(size, itemSize))
            // The first field, `struct_size`, states how many bytes of the copy have values. The host may pass the copy
            // back to the library, which then reads only these bytes.
            copy.storeBytes(of: min(size, itemSize), as: Int.self)
            copies[key] = UInt(bitPattern: copy)
            return UInt(bitPattern: copy)
        }
        return UnsafeRawPointer(bitPattern: address)
    }
}

extension Batch {
    /// Copies the engine's reply to a listing or a poll. `storePath`: the path by which the host opened the store.
    convenience init(_ reply: Reply, storePath: String) throws(Failure) {
        switch reply {
        case .events(let events, let more): self.init(events, more: more, bh_event.init(_:in:))
        case .tasks(let tasks, let more): self.init(tasks, more: more, bh_task_info.init(_:in:))
        case .sessions(let sessions, let more): self.init(sessions, more: more, bh_session_info.init(_:in:))
        case .configuration(let configuration): self.init([configuration], bh_session_configuration.init(_:in:))
        case .challenges(let challenges): self.init(challenges, bh_challenge.init(_:in:))
        case .attempts(let attempts, let more): self.init(attempts, more: more, bh_attempt.init(_:in:))
        case .limits(let limits): self.init([limits]) { limits, _ in bh_limits(limits) }
        case .waits(let waits, let more): self.init(waits, more: more, bh_wait_record.init(_:in:))
        case .conditions(let conditions): self.init(conditions, bh_condition.init(_:in:))
        case .holds(let holds): self.init(holds, bh_hold.init(_:in:))
        case .networks(let networks): self.init(networks, bh_network.init(_:in:))
        case .activities(let activities): self.init(activities, bh_activity.init(_:in:))
        case .currentLaunch(let launch): self.init(launch.map { [$0] } ?? [], bh_launch.init(_:in:))
        case .launches(let launches): self.init(launches, bh_launch_info.init(_:in:))
        case .engine(let engine): self.init([engine]) { bh_engine_info($0, storePath: storePath, in: &$1) }
        case .metrics(let text): self.init([text], bh_metrics.init(_:in:))
        case .applications(let applications): self.init(applications, bh_application_info.init(_:in:))
        case .failed, .done, .count, .session, .enqueued, .completed: throw StartedVerb.unexpectedReply
        }
    }

    /// Copies the results of an enqueue, which stores requests as tasks. Requests that the engine has not processed are
    /// left out.
    convenience init(_ enqueued: EnqueuedList) {
        let applied = enqueued.enumerated().filter { $0.element.disposition != .notApplied }
        self.init(applied) { item, _ in bh_enqueued(item.element, of: item.offset) }
    }
}

extension Reply {
    /// Whether the host gets the reply as a batch.
    var isListing: Bool {
        switch self {
        case .events, .tasks, .sessions, .configuration, .challenges, .attempts, .limits, .waits, .conditions, .holds,
            .networks, .activities, .currentLaunch, .launches, .engine, .metrics,
            .applications:
            true
        case .failed, .done, .count, .session, .enqueued, .completed: false
        }
    }
}
