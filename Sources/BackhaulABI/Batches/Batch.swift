internal import BackhaulModel
internal import CBackhaul

/// The values that a listing or a poll brings.
enum BatchContent: Sendable {
    case events([Event], more: Bool)
    case tasks([TaskInfo], more: Bool)
    case sessions([SessionInfo])
    case configuration(SessionConfiguration)
}

/// A `bh_batch`: an array of C structs and all they point to, laid out once.
final class Batch: @unchecked Sendable {
    // Unchecked: nothing changes after init, so any thread may read what the pointers point to.
    private enum Items {
        case events(UnsafePointer<bh_event>)
        case tasks(UnsafePointer<bh_task>)
        case sessions(UnsafePointer<bh_session_info>)
        case configurations(UnsafePointer<bh_session_configuration>)
    }

    let count: Int
    let more: Bool
    private let items: Items
    private let arena: Arena

    init(_ content: BatchContent) {
        var arena = Arena()
        switch content {
        case .events(let events, let more):
            (count, self.more) = (events.count, more)
            items = .events(Batch.lay(events, in: &arena) { bh_event($0, in: &$1) })
        case .tasks(let tasks, let more):
            (count, self.more) = (tasks.count, more)
            items = .tasks(Batch.lay(tasks, in: &arena) { bh_task($0, in: &$1) })
        case .sessions(let sessions):
            (count, more) = (sessions.count, false)
            items = .sessions(Batch.lay(sessions, in: &arena) { bh_session_info($0, in: &$1) })
        case .configuration(let configuration):
            (count, more) = (1, false)
            items = .configurations(
                Batch.lay([configuration], in: &arena) { bh_session_configuration($0, in: &$1) })
        }
        self.arena = arena
    }

    private static func lay<Value, Item: BitwiseCopyable>(
        _ values: [Value], in arena: inout Arena, _ make: (Value, inout Arena) -> Item
    ) -> UnsafePointer<Item> {
        let items = arena.room(for: values.count, of: Item.self)
        for (index, value) in values.enumerated() { (items + index).initialize(to: make(value, &arena)) }
        return UnsafePointer(items)
    }

    // Nil when the batch holds another kind or fewer items.

    func event(at index: Int) -> UnsafePointer<bh_event>? {
        guard case .events(let items) = items else { return nil }
        return item(items, index)
    }

    func task(at index: Int) -> UnsafePointer<bh_task>? {
        guard case .tasks(let items) = items else { return nil }
        return item(items, index)
    }

    func session(at index: Int) -> UnsafePointer<bh_session_info>? {
        guard case .sessions(let items) = items else { return nil }
        return item(items, index)
    }

    func configuration(at index: Int) -> UnsafePointer<bh_session_configuration>? {
        guard case .configurations(let items) = items else { return nil }
        return item(items, index)
    }

    private func item<Item>(_ items: UnsafePointer<Item>, _ index: Int) -> UnsafePointer<Item>? {
        index >= 0 && index < count ? items + index : nil
    }
}
