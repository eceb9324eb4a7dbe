public import BackhaulPlatform

/// Passes the results of other threads to the thread of the loop. Only the thread of the loop uses this object. When it
/// is released, results that come later are dropped.
public final class LoopInbox<Item: Sendable> {
    /// Any thread may use it, also after the inbox was released.
    public struct Sender: Sendable {
        fileprivate let items = Lock<[Item]>([])
        fileprivate let wakeUp: EventFD

        public func send(_ item: Item) {
            items.withLock { $0.append(item) }
            wakeUp.set()
        }

        fileprivate func take() -> [Item] {
            wakeUp.clear()
            return items.withLock { items in
                defer { items = [] }
                return items
            }
        }
    }

    public let sender: Sender
    private let watch: Watch

    /// - take: called on the thread of the loop for each item, in the order in which the items were sent. It may
    /// release the inbox. Then it is still called for the items that have already arrived.
    public init(_ loop: Loop, take: @escaping (Item) -> Void) throws(SystemError) {
        let sender = Sender(wakeUp: try EventFD())
        self.sender = sender
        watch = try loop.watch(sender.wakeUp.number, .readable) { _ in
            for item in sender.take() { take(item) }
        }
    }
}
