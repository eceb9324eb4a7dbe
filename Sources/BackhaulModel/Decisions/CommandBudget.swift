/// The memory for the unfinished commands of one peer (a process that is connected to the engine's socket), and for the
/// replies to these commands. While the memory is used up, the engine reads no further command of that peer. Then the
/// socket's buffer fills, and the peer waits.
public struct CommandBudget: Sendable {
    public static let limit = 8 << 20
    /// The bytes that are assumed for the reply to a listing or to a request for events (poll). The reply may be as
    /// large as a message (frame) can be, but most replies are far smaller. The same is assumed for each command that
    /// examines many tasks, because the commands of other peers wait until the store has performed it.
    static let listing = 1 << 20
    static let smallest = 1 << 10

    private var open: [UInt64: [Int]] = [:]
    public private(set) var used = 0

    public init() {}

    public var isSpent: Bool { used >= Self.limit }

    /// - size: the bytes of the message (frame) that contains the command.
    public mutating func take(_ sequence: UInt64, _ command: Command, size: Int) {
        let cost = Self.smallest + size + Self.allowance(for: command)
        open[sequence, default: []].append(cost)
        used += cost
    }

    public mutating func release(_ sequence: UInt64) {
        guard var costs = open[sequence], let cost = costs.popLast() else { return }
        used -= cost
        open[sequence] = costs.isEmpty ? nil : costs
    }

    private static func allowance(for command: Command) -> Int {
        switch command {
        case .poll, .tasks, .sessions, .launches, .challenges, .currentLaunch, .attempts, .attemptsOfTasks, .waits,
            .waitsOfTasks, .history, .holds, .metrics, .applications:
            listing
        case .control(_, _, let selection) where selection.ids.isEmpty: listing
        default: 0
        }
    }
}
