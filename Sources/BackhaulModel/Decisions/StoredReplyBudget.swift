/// The disk space for the stored replies to the commands of one connection. The engine stores a reply until the client
/// states that it has all replies up to this one (`ClientMessage.command`). A client that never states this would fill
/// the disk. No stored reply is removed before, because the client may still repeat the command. Instead, the engine
/// refuses further commands.
///
/// A client that waits for an old command can state nothing about later ones. So the limit permits hundreds of
/// thousands of commands in this time.
public struct StoredReplyBudget: Sendable {
    static let limit = 64 << 20
    /// The bytes of a stored reply in addition to the reply itself.
    static let row = 64

    public static let failure = Failure(
        .outOfResources,
        "the client has performed many commands since an earlier command that has no reply yet; wait for that reply")

    private var repliedThrough: UInt64 = 0
    /// The bytes that were stored since the client has last raised `repliedThrough`.
    private var used = 0

    public init() {}

    public var isSpent: Bool { used >= Self.limit }

    /// Notes that the client has the replies up to this sequence number.
    public mutating func confirm(through sequence: UInt64) {
        guard sequence > repliedThrough else { return }
        repliedThrough = sequence
        used = 0
    }

    public mutating func add(replySize size: Int) { used += Self.row + size }
}
