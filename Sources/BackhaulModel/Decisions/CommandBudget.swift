/// The memory for the commands of one peer that are in progress, and for their replies. While the budget is spent, the
/// engine reads no further command of that peer. Then the buffer of the socket fills, and the peer waits.
public struct CommandBudget: Sendable {
    public static let limit = 8 << 20
    /// The bytes assumed for the reply to a listing or poll. The reply may fill a frame, but most replies are far
    /// smaller.
    static let listing = 1 << 20
    static let smallest = 1 << 10

    private var open: [UInt64: [Int]] = [:]
    public private(set) var used = 0

    public init() {}

    public var isSpent: Bool { used >= Self.limit }

    /// - size: the bytes of the command's frame.
    public mutating func take(_ sequence: UInt64, _ command: Command, size: Int) {
        let cost = Self.smallest + size + Self.reply(to: command)
        open[sequence, default: []].append(cost)
        used += cost
    }

    public mutating func release(_ sequence: UInt64) {
        guard var costs = open[sequence], let cost = costs.popLast() else { return }
        used -= cost
        open[sequence] = costs.isEmpty ? nil : costs
    }

    private static func reply(to command: Command) -> Int {
        switch command {
        case .poll, .tasks, .sessions, .launches, .challenges, .currentLaunch, .attempts, .history: listing
        default: 0
        }
    }
}
