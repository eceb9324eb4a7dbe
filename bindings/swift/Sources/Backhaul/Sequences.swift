/// A session's events, in the order of their commit, as they come. It does not end by itself: leave the loop, for
/// example at `.sessionFinished`. When the task is cancelled, `next` throws `CancellationError`.
public struct EventSequence: AsyncSequence, Sendable {
    public typealias Element = Event

    let session: Session
    let after: EventID

    public func makeAsyncIterator() -> Iterator { Iterator(session: session, cursor: after) }

    public struct Iterator: AsyncIteratorProtocol {
        let session: Session
        var cursor: EventID
        private var received: [Event] = []
        private var position = 0

        init(session: Session, cursor: EventID) {
            self.session = session
            self.cursor = cursor
        }

        public mutating func next() async throws -> Event? {
            while position == received.count {
                received = try await session.poll(after: cursor).events
                position = 0
                if received.isEmpty { try await session.eventsReady() }
            }
            let event = received[position]
            position += 1
            cursor = event.id
            return event
        }
    }
}

/// A session's tasks by id, asked for in pages of a thousand.
public struct TaskSequence: AsyncSequence, Sendable {
    public typealias Element = TaskInfo

    let session: Session
    let selection: TaskSelection

    public func makeAsyncIterator() -> Iterator { Iterator(session: session, selection: selection) }

    public struct Iterator: AsyncIteratorProtocol {
        let session: Session
        let selection: TaskSelection
        private var page: [TaskInfo] = []
        private var position = 0
        private var hasMore = true
        private var cursor: TaskID = 0

        init(session: Session, selection: TaskSelection) {
            self.session = session
            self.selection = selection
        }

        public mutating func next() async throws -> TaskInfo? {
            while position == page.count {
                guard hasMore else { return nil }
                (page, hasMore) = try await session.page(selection, after: cursor, maximum: 1000)
                position = 0
                cursor = page.last?.id ?? cursor
            }
            let task = page[position]
            position += 1
            return task
        }
    }
}
