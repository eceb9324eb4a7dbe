#if DEBUG
internal import Glibc
#endif

/// Tests kill the process at these points, to simulate a crash. Each point is between two durable steps. The points
/// have an effect in debug builds only. The environment variable BACKHAUL_CRASH_AT names one of the points. If ":N"
/// follows the name, the process is killed when it reaches the point for the Nth time.
public enum CrashPoint: String, Sendable, CaseIterable {
    case beforeCheckpoint
    case afterCheckpoint
    case afterSeal
    case afterIntent
    case afterRename
    case afterPlace
    case afterEnd
    case afterEnqueue
    case afterAcknowledge
    case afterActivity
    case afterClaimIntent
    case afterClaimCopy
    case afterClaimMove

    #if DEBUG
    private static let chosen: (name: String, passing: Int)? = {
        guard let text = getenv("BACKHAUL_CRASH_AT").map({ String(cString: $0) }) else { return nil }
        let parts = text.split(separator: ":")
        return (String(parts.first ?? ""), parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
    }()
    private static let passed = Lock(0)

    public func reach() {
        guard let chosen = Self.chosen, chosen.name == rawValue else { return }
        let count = Self.passed.withLock { passed in
            passed += 1
            return passed
        }
        if count == chosen.passing { kill(getpid(), SIGKILL) }
    }
    #else
    @inline(__always) public func reach() {}
    #endif
}
