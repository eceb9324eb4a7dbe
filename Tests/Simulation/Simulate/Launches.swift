import CBackhaul
import CSimulation
import Glibc

/// What is wrong with a launch.
enum WrongLaunch: Int64 {
    /// The program is launched, although it is connected to the daemon.
    case programIsConnected = 1
    /// The program is launched, although it has handled all events of its session.
    case hasNoReason
    /// The launched process does not find the launch, or no session that needs it.
    case namesNoSession
    /// Tasks of the session are running, and no event says that they have ended.
    case roundIsOpen
    /// The last launch has failed, and the delay after it is not over.
    case isTooEarly
}

/// What is known of the programs when the daemon launches one of them.
struct Launches {
    /// The delay after the first failed launch; it is the default of the launch command.
    private static let firstDelay = 60 * second

    /// The daemon to which each program is connected. If this daemon ends, the library connects the program to the next
    /// one later.
    private var daemons: [Int: Int32] = [:]
    /// When a launched process ended that had not connected.
    private var failures: [Int: Int64] = [:]
    /// The programs that have handled all events of their sessions, and are not running.
    private var satisfied: Set<Int> = []

    mutating func connected(_ program: Int, to daemon: Int32) {
        (daemons[program], failures[program]) = (daemon, nil)
        satisfied.remove(program)
    }

    mutating func ended(_ program: Int) {
        // The library may have connected the program to the daemon that had failed to launch it.
        if daemons.removeValue(forKey: program) != nil { failures[program] = nil }
    }

    mutating func failed(_ program: Int, at time: Int64) { failures[program] = time }
    mutating func handledAllEvents(_ program: Int) { satisfied.insert(program) }

    /// What is wrong with a launch at this moment; nil: nothing.
    func wrong(with program: Int, by daemon: Int32, at time: Int64) -> WrongLaunch? {
        if daemons[program] == daemon { return .programIsConnected }
        if satisfied.contains(program) { return .hasNoReason }
        // The daemon reads the clock a moment earlier.
        if let failure = failures[program], time < failure + Self.firstDelay - second { return .isTooEarly }
        return nil
    }
}

/// A program that the daemon launches.
extension Program {
    /// If the daemon launches programs, each program is an application of its own.
    var applicationIdentifier: String { "org.example.simulation" + (history.hasLaunches ? "\(number)" : "") }

    /// Calls `body` with the launch command of the program; nil: it has none.
    func withLaunchCommand(_ body: (UnsafePointer<bh_launch_command>?) -> bh_status) -> bh_status {
        guard history.hasLaunches else { return body(nil) }
        // The path of any program: `Programs` starts the program with this number.
        let texts = [strdup("/bin/true"), strdup("\(number)")]
        defer { for text in texts { free(text) } }
        var command = bh_launch_command()
        library.`init`(&command, MemoryLayout<bh_launch_command>.size)
        command.program = UnsafePointer(texts[0])
        return withUnsafePointer(to: UnsafePointer(texts[1])) { arguments in
            (command.arguments, command.argument_count) = (arguments, 1)
            return withUnsafePointer(to: &command, body)
        }
    }

    /// Some programs do other things before they open their session.
    mutating func waitBeforeSession() {
        if history.hasLaunches, random.chance(30) { usleep(UInt32(random.int(second...30 * second))) }
    }

    /// A program that is launched need not wait for its events.
    mutating func exitUntilLaunch() {
        guard history.hasLaunches, nextAction > now, random.chance(15) else { return }
        exit(for: world.programs.restart(after: min(nextAction - now, random.magnitude(second...600 * second))))
    }

    /// Asks which launch has started this process.
    mutating func readLaunch() {
        guard isLaunched else { return }
        var batch: OpaquePointer?
        check(library.application_current_launch(application, BH_WAIT_DEFAULT, &batch, &error))
        defer { library.batch_release(batch) }
        let launch = library.items(batch, BH_ITEM_LAUNCH, bh_launch.self).first
        isLaunchedForChallenge = launch.map { $0.attention & UInt32(BH_ATTENTION_CHALLENGE) > 0 } ?? false
        guard (launch?.session_count ?? 0) == 0 else { return }
        record(.launchIsWrong, first: WrongLaunch.namesNoSession.rawValue)
    }

    /// A launched program completes its session when it has handled the events. If tasks are due later, it exits until
    /// then.
    mutating func completeIfAllHasEnded() {
        // The removal of a session ends the removal of its uploads at their servers.
        guard isLaunched, isFinished, ended.count == accepted.count, !hasRemains else { return }
        let status = library.session_complete(session, BH_WAIT_DEFAULT, &error)
        guard status != BH_EVENTS_OUTSTANDING else { return }
        check(status)
        record(.sessionIsCompleted)
        guard !isDone else { return }
        let next = tasks.filter { accepted[$0.number] == nil && !waitsForKey($0) }.map(\.time).min() ?? now
        exit(for: max(second, next - now))
    }
}
