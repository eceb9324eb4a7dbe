/// The results of an enqueue, which stores requests as tasks. The results are in the order of the requests. New tasks
/// mostly have consecutive ids. The list stores such results as one *run*: the first result and the number of results.
/// So a million results need little memory.
public struct EnqueuedList: Sequence, Equatable, Sendable {
    fileprivate struct Run: Equatable, Sendable {
        var first: Enqueued
        var count: Int

        /// The only item that can extend the run; nil if an id of this item would overflow.
        var next: Enqueued? {
            guard first.disposition != .notApplied else { return first }
            var next = first
            let (id, overflows) = first.task.rawValue.addingReportingOverflow(UInt64(count))
            next.task = TaskID(rawValue: id)
            guard first.end != .zero else { return overflows ? nil : next }
            let (end, endOverflows) = first.end.rawValue.addingReportingOverflow(UInt64(count))
            next.end = EventID(rawValue: end)
            return overflows || endOverflows ? nil : next
        }
    }

    private var runs: [Run] = []
    public private(set) var count = 0

    public init() {}

    public init(_ items: some Sequence<Enqueued>) {
        for item in items { append(item) }
    }

    /// The number of applied requests at the start of the list. The count ends before the first request that the
    /// engine, which runs the tasks, has not applied.
    public var appliedPrefix: Int {
        runs.prefix { $0.first.disposition != .notApplied }.reduce(0) { $0 + $1.count }
    }

    /// The results of the requests that made no new task, because an earlier task has the same idempotency key. Each
    /// result has the position of its request.
    public var existing: [(request: Int, Enqueued)] {
        enumerated().filter { $0.element.disposition == .existing }.map { ($0.offset, $0.element) }
    }

    public init(notApplied count: Int) {
        guard count > 0 else { return }
        runs = [Run(first: Enqueued(task: .zero, disposition: .notApplied), count: count)]
        self.count = count
    }

    public mutating func append(_ item: Enqueued) {
        count += 1
        if let last = runs.indices.last, runs[last].next == item {
            runs[last].count += 1
        } else {
            runs.append(Run(first: item, count: 1))
        }
    }

    public mutating func append(contentsOf other: EnqueuedList) {
        for run in other.runs {
            if let last = runs.indices.last, runs[last].next == run.first {
                runs[last].count += run.count
            } else {
                runs.append(run)
            }
        }
        count += other.count
    }

    public func makeIterator() -> Iterator { Iterator(runs) }

    public struct Iterator: IteratorProtocol {
        private var runs: ArraySlice<Run>
        private var position = 0

        fileprivate init(_ runs: [Run]) { self.runs = runs[...] }

        public mutating func next() -> Enqueued? {
            guard let run = runs.first else { return nil }
            let item = Run(first: run.first, count: position).next
            position += 1
            if position == run.count {
                runs = runs.dropFirst()
                position = 0
            }
            return item
        }
    }
}
