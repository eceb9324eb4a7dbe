import BackhaulModel
import Testing

/// Several collections have a limited size. The *command budget* limits the commands that have no reply yet. If an
/// earlier request had the same idempotency key, its task is *existing*, and no new task is stored.
@Suite("Bounded collections")
struct BoundsTests {
    private func reading(_ task: UInt64, _ offset: UInt64 = 0) -> Progress {
        Progress(
            task: TaskID(rawValue: task), state: .running, reason: .none, offset: offset, size: nil, bytesPerSecond: 0)
    }

    @Test("the newest progress of a task replaces its older progress")
    func newest() {
        var table = ProgressTable()
        table.add([reading(2, 1), reading(1, 1), reading(2, 5)])
        #expect(table.take() == [reading(1, 1), reading(2, 5)])
        #expect(table.isEmpty)
    }

    @Test("a full table of progress drops its oldest entry")
    func full() {
        var table = ProgressTable()
        table.add((1...UInt64(ProgressTable.limit) + 3).map { reading($0) })
        let readings = table.take()
        #expect(readings.count == ProgressTable.limit)
        #expect(readings.first?.task.rawValue == 4)
    }

    @Test("a pending command uses a part of the command budget, and its reply releases this part")
    func budget() {
        var budget = CommandBudget()
        let poll = Command.poll(HandleID(rawValue: 1), after: .zero, maximum: 1)
        for sequence in 1...8 { budget.take(UInt64(sequence), poll, size: 100) }
        #expect(budget.isSpent)
        budget.release(9)
        #expect(budget.isSpent)
        budget.release(1)
        #expect(!budget.isSpent)
    }

    @Test("a command that examines many tasks uses as much of the command budget as a listing")
    func budgetOfLongCommands() {
        func isSpentByEight(_ command: Command) -> Bool {
            var budget = CommandBudget()
            for sequence in 1...8 { budget.take(UInt64(sequence), command, size: 100) }
            return budget.isSpent
        }
        let handle = HandleID(rawValue: 1)
        #expect(isSpentByEight(.holds))
        #expect(isSpentByEight(.metrics))
        #expect(isSpentByEight(.control(handle, .setPriority(5), TaskSelection())))
        #expect(!isSpentByEight(.control(handle, .setPriority(5), TaskSelection(ids: [TaskID(rawValue: 1)]))))
    }

    @Test("if several commands have the same sequence number, each reply releases one command's part of the budget")
    func repeatedSequence() {
        var budget = CommandBudget()
        for _ in 0..<3 { budget.take(7, .sessions(after: ""), size: 10) }
        let used = budget.used
        budget.release(7)
        #expect(budget.used == used / 3 * 2)
        budget.release(7)
        budget.release(7)
        budget.release(7)
        #expect(budget.used == 0)
    }

    private func item(_ task: UInt64, _ disposition: Enqueued.Disposition = .new) -> Enqueued {
        Enqueued(task: TaskID(rawValue: task), disposition: disposition)
    }

    @Test("a list of enqueue results returns its items, and counts the items before the first one that was not applied")
    func results() {
        let items = [
            item(5), item(6), item(9), item(8, .existing), item(9, .existing), item(0, .notApplied),
            item(0, .notApplied), item(10),
        ]
        let list = EnqueuedList(items)
        #expect(Array(list) == items)
        #expect(list.count == 8)
        #expect(list.appliedPrefix == 5)
        var joined = EnqueuedList(items.prefix(2))
        joined.append(contentsOf: EnqueuedList(items.dropFirst(2)))
        joined.append(contentsOf: EnqueuedList(notApplied: 2))
        #expect(Array(joined) == items + [item(0, .notApplied), item(0, .notApplied)])
        #expect(Array(EnqueuedList([item(.max), item(0)])) == [item(.max), item(0)])
    }

    @Test("a list of enqueue results keeps the state of each existing task")
    func found() {
        func found(_ task: UInt64, _ state: TaskState, _ end: UInt64 = 0) -> Enqueued {
            Enqueued(
                task: TaskID(rawValue: task), disposition: .existing, state: state, end: EventID(rawValue: end))
        }
        let items = [
            item(1), found(2, .succeeded), found(3, .succeeded), found(4, .succeeded, 7), found(5, .succeeded, 8),
            found(6, .failed, 9), found(7, .failed, 9), found(8, .failed), found(9, .waiting), found(10, .running),
            found(.max, .failed, .max), found(0, .failed, 0),
        ]
        #expect(Array(EnqueuedList(items)) == items)
        var joined = EnqueuedList(items.prefix(4))
        joined.append(contentsOf: EnqueuedList(items.dropFirst(4)))
        #expect(Array(joined) == items)
        #expect(joined.existing.map(\.request) == Array(1..<items.count))
    }
}
