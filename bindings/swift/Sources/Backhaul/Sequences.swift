/// A session's events, in the order in which they were stored. The sequence does not end by itself. So the program must
/// end its loop with `break`, for example at `.sessionFinished`. If the Swift task is cancelled, `next` throws
/// `CancellationError`.
public struct EventSequence: AsyncSequence, Sendable {
    /// The sequence yields events.
    public typealias Element = Event

    let session: Session
    let after: EventID?

    /// Starts an iteration. Each iteration begins with the same event.
    public func makeAsyncIterator() -> Iterator { Iterator(session: session, cursor: after) }

    /// An iteration over the events.
    public struct Iterator: AsyncIteratorProtocol {
        let session: Session
        var cursor: EventID?
        private var received: [Event] = []
        private var position = 0

        init(session: Session, cursor: EventID?) {
            self.session = session
            self.cursor = cursor
        }

        /// Returns the next event, and waits for it if necessary. The result is never nil.
        public mutating func next() async throws -> Event? {
            while position == received.count {
                let polls = session.fruitfulPolls
                received = try await session.poll(after: cursor).events
                position = 0
                if received.isEmpty { try await session.eventsReady(since: polls) }
            }
            let event = received[position]
            position += 1
            cursor = event.id
            return event
        }
    }
}

/// A session's tasks, in the order of their ids. The sequence reads the tasks in pages of 1,000.
public struct TaskSequence: AsyncSequence, Sendable {
    /// The sequence yields tasks.
    public typealias Element = TaskInfo

    let session: Session
    let selection: TaskSelection

    /// Starts an iteration, which reads the tasks again.
    public func makeAsyncIterator() -> Iterator { Iterator(session: session, selection: selection) }

    /// An iteration over the tasks.
    public struct Iterator: AsyncIteratorProtocol {
        let session: Session
        let selection: TaskSelection
        private var page: [TaskInfo] = []
        private var position = 0
        private var hasMore = true
        private var cursor: TaskID?

        init(session: Session, selection: TaskSelection) {
            self.session = session
            self.selection = selection
        }

        /// Returns the next task, or nil after the last one.
        public mutating func next() async throws -> TaskInfo? {
            while position == page.count {
                guard hasMore else { return nil }
                (page, hasMore) = try await session.run(.tasks(selection, after: cursor, maximum: 1000))
                position = 0
                cursor = page.last?.id ?? cursor
            }
            let task = page[position]
            position += 1
            return task
        }
    }
}

/// The live progress of a session's running tasks. If the Swift task is cancelled, `next` throws `CancellationError`.
public struct ProgressSequence: AsyncSequence, Sendable {
    /// The sequence yields readings of progress.
    public typealias Element = TaskProgress

    let session: Session
    let interval: Duration

    /// Starts an iteration. Only one iteration at a time gets readings.
    public func makeAsyncIterator() -> Iterator { Iterator(session: session, interval: interval) }

    /// An iteration over the readings.
    public struct Iterator: AsyncIteratorProtocol {
        let session: Session
        let interval: Duration
        private var watch: Watch?
        private var received: [TaskProgress] = []
        private var position = 0

        init(session: Session, interval: Duration) {
            self.session = session
            self.interval = interval
        }

        /// Returns the next reading, and waits for it if necessary. The result is never nil.
        public mutating func next() async throws -> TaskProgress? {
            if watch == nil {
                guard interval >= .milliseconds(100), interval <= .seconds(60) else {
                    throw BackhaulError(
                        .invalidArgument, message: "the interval is \(interval); give 100 milliseconds to a minute")
                }
                let milliseconds = UInt32(clamping: interval.wholeMilliseconds)
                watch = Watch(session, try await session.startWatch(milliseconds: milliseconds))
            }
            while position == received.count {
                received = try session.pollProgress()
                position = 0
                if received.isEmpty { try await session.progressReady() }
            }
            defer { position += 1 }
            return received[position]
        }
    }

    /// Stops the progress readings when the iterator is deinitialized. This happens after the end of the loop.
    private final class Watch: Sendable {
        private let session: Session
        private let number: UInt64

        init(_ session: Session, _ number: UInt64) {
            self.session = session
            self.number = number
        }

        deinit {
            // An error is ignored, because the loop has ended, and a closed session gets no readings.
            Task { [session, number] in try? await session.stopWatch(number) }
        }
    }
}

/// The live progress of one task. The first reading comes at once. Further readings follow when the progress has
/// changed. The last reading has the final state of the task, and then the sequence ends. If the task ends, and leaves
/// the list of tasks and the history between two readings, the sequence ends without the final state.
public struct TaskProgressSequence: AsyncSequence, Sendable {
    /// The sequence yields readings of progress.
    public typealias Element = TaskProgress

    let session: Session
    let task: TaskID
    let interval: Duration

    /// Starts an iteration. Any number of iterations may run at the same time.
    public func makeAsyncIterator() -> Iterator { Iterator(session: session, task: task, interval: interval) }

    /// An iteration over the readings.
    public struct Iterator: AsyncIteratorProtocol {
        let session: Session
        let task: TaskID
        let interval: Duration
        private var last: TaskProgress?

        init(session: Session, task: TaskID, interval: Duration) {
            self.session = session
            self.task = task
            self.interval = interval
        }

        /// Returns the next reading, or nil at the end of the sequence. If the Swift task is cancelled,
        /// throws `CancellationError`.
        public mutating func next() async throws -> TaskProgress? {
            guard interval >= .milliseconds(100) else {
                throw BackhaulError(
                    .invalidArgument, message: "the interval is \(interval); give at least 100 milliseconds")
            }
            while last?.state.hasEnded != true {
                if last != nil { try await Task.sleep(for: interval) }
                let reading: TaskProgress
                do {
                    reading = TaskProgress(try await session.task(task))
                } catch let error as BackhaulError where error.status == .notFound && last != nil {
                    // The task has ended, its event was acknowledged, and the history does not keep the task.
                    return nil
                }
                guard reading != last else { continue }
                last = reading
                return reading
            }
            return nil
        }
    }
}
