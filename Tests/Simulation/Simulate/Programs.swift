import CSimulation
import Glibc

/// The programs of a run, each with the process that runs it. A process needs a copy of the library that no process has
/// used. If there is none, all processes end, and the run continues in another process of this system.
final class Programs {
    private let history: History
    private let journal: Journal
    private let folder: String
    /// The processes of the programs that run.
    private var running: [Int: Int32] = [:]
    private var lastProcess: Int32 = 0
    /// The process of the last daemon.
    private var daemon: Int32 = 0
    /// The processes that have their program's session open.
    private var sessions: [Int: Int32] = [:]
    /// Until when a program does nothing.
    private var pauses: [Int: Int64] = [:]
    /// Until when each process is stopped that was stopped once.
    private var stops: [Int32: Int64] = [:]
    /// The processes that the daemon has launched.
    private var launched: Set<Int32> = []
    private var launches = Launches()
    /// Faults that the programs perform themselves.
    private var requests: [Int: [Request]] = [:]

    enum Request {
        case exit(Int64)
        case pause(Int64)
    }

    init(_ history: History, _ journal: Journal, folder: String) {
        (self.history, self.journal, self.folder) = (history, journal, folder)
        sim_set_start { arguments in
            // The arguments of the daemon are "--store PATH", and those of a launched program are its number.
            let number = arguments?[1].flatMap { Int(String(cString: $0)) }
            return number.map(world.programs.launch) ?? world.programs.startDaemon()
        }
    }

    private var numbers: ClosedRange<Int> { 1...history.programs }

    /// Whether all tasks had ended before this process of the run.
    private(set) lazy var isInspection = numbers.allSatisfy { has(.allIsDone, $0) }

    private func isDone(_ program: Int) -> Bool { has(isInspection ? .inspectionEnds : .allIsDone, program) }

    private func has(_ kind: Observation.Kind, _ program: Int) -> Bool {
        journal.all.contains { $0.kind == kind && $0.program == program }
    }

    /// Starts all programs that are not done, at about the same time.
    func begin() {
        for program in numbers where !isDone(program) { start(program, after: Int64(sim_random() % 100_000)) }
        endIfAllAreDone()
    }

    /// Starts a program after the duration.
    private func start(_ program: Int, after duration: Int64) {
        // Unsafe: the number of the program is passed as an address, which is never used.
        sim_after(
            duration, { world.programs.start(Int(bitPattern: $0)) }, UnsafeMutableRawPointer(bitPattern: program))
    }

    private func start(_ program: Int) {
        // Perhaps it was launched.
        guard running[program] == nil, !isDone(program) else { return }
        takeProcess()
        run(program, as: lastProcess)
    }

    private func run(_ program: Int, as process: Int32) {
        running[program] = process
        sim_start_process(
            process, { world.programs.run(Int(bitPattern: $0)) }, UnsafeMutableRawPointer(bitPattern: program))
    }

    private func takeProcess() {
        if lastProcess == SIM_PROCESSES { world.machine.killAll(for: second) }
        lastProcess += 1
    }

    /// Launches a program, as the daemon asks. Returns the number of the process.
    private func launch(_ program: Int) -> Int32 {
        let time = world.servers.now
        journal.add(Observation(time: time, kind: .programIsLaunched, program: program))
        if let wrong = launches.wrong(with: program, by: daemon, at: time) {
            journal.add(Observation(time: time, kind: .launchIsWrong, program: program, first: wrong.rawValue))
        }
        takeProcess()
        // Some processes end before they open their session. A second process of a program always does, and so does a
        // process of a program that is done, but has left events.
        guard running[program] == nil, !isDone(program), sim_random() % 4 > 0 else {
            launches.failed(program, at: time)
            sim_start_process(lastProcess, { _ in sim_exit() }, nil)
            return lastProcess
        }
        launched.insert(lastProcess)
        run(program, as: lastProcess)
        return lastProcess
    }

    /// Starts the daemon, as a program asks. It has a mount namespace of its own.
    private func startDaemon() -> Int32 {
        takeProcess()
        daemon = lastProcess
        sim_hide(hiddenDirectory(below: folder), daemon)
        journal.add(Observation(time: world.servers.now, kind: .daemonStarts))
        // Unsafe: the number of the process is passed as an address, which is never used.
        sim_start_process(
            lastProcess,
            {
                sim_begin_arguments()
                _ = libraries[Int(bitPattern: $0)].run_daemon()
                sim_exit()
            }, UnsafeMutableRawPointer(bitPattern: Int(lastProcess)))
        return lastProcess
    }

    /// Ends the daemon. The programs start the next one.
    func killDaemon() {
        guard daemon > 0, sim_is_running(daemon) else { return }
        journal.add(Observation(time: world.servers.now, kind: .daemonIsKilled))
        sim_end_process(daemon)
    }

    private func run(_ number: Int) -> Never {
        var program = Program(
            number, history, journal, folder: folder, library: libraries[Int(running[number] ?? 0)],
            isLaunched: launched.contains(running[number] ?? 0))
        isInspection ? program.inspect() : program.run()
    }

    /// Ends the process of a program. It starts again after the duration.
    func kill(_ program: Int, for duration: Int64) {
        guard let process = running.removeValue(forKey: program) else { return }
        journal.add(Observation(time: world.servers.now, kind: .processIsKilled, program: program))
        requests[program] = nil
        forget(program)
        sim_end_process(process)
        start(program, after: restart(after: duration))
    }

    /// Stops the threads of a program for the duration.
    func stop(_ program: Int, for duration: Int64) {
        guard let process = running[program] else { return }
        let now = world.servers.now
        journal.add(Observation(time: now, kind: .programStops, program: program, first: duration))
        if !wasStopped(process, since: now) { stops[process] = now + duration }
        sim_stop_process(process, duration)
    }

    /// Whether the process was stopped at any moment since this time.
    func wasStopped(_ process: Int32, since time: Int64) -> Bool { stops[process].map { $0 >= time } ?? false }

    /// Ends the calling process. Its program starts again after the duration; nil: it is done.
    func exit(_ program: Int, for duration: Int64?) -> Never {
        running[program] = nil
        forget(program)
        if let duration { start(program, after: duration) }
        endIfAllAreDone()
        sim_exit()
    }

    /// When a program starts again that has ended. If the daemon launches programs, it often has hours to do so.
    func restart(after duration: Int64) -> Int64 {
        history.hasLaunches && sim_random() % 2 == 0 ? duration + 3 * hour : duration
    }

    func sessionIsOpen(_ program: Int) { sessions[program] = running[program] }

    /// The program is about to close its session and its application.
    func sessionIsClosed(_ program: Int, hasLeftEvents: Bool) {
        forget(program)
        if !hasLeftEvents { launches.handledAllEvents(program) }
    }

    /// The session and the application of the program are not open any more.
    private func forget(_ program: Int) {
        sessions[program] = nil
        launches.ended(program)
    }

    /// The program has opened its application, and so it is connected to the daemon.
    func applicationIsOpen(_ program: Int) { launches.connected(program, to: daemon) }

    /// The process that has the session of a program open; nil: none. If a program does nothing, and the disk fails
    /// when it would become the engine, then it does not know this, and loses its session.
    func consumer(_ program: Int) -> Int32? {
        let isPaused = pauses[program].map { $0 > world.servers.now } ?? false
        return isPaused && history.hasDiskFaults ? nil : sessions[program]
    }

    func pauses(_ program: Int, until time: Int64) { pauses[program] = time }

    private func endIfAllAreDone() {
        guard numbers.allSatisfy(isDone) else { return }
        if isInspection { Leftovers(history, folder).record(in: journal) }
        if history.isInspected, !isInspection { world.machine.beginInspection() }
        world.machine.endRun()
    }

    func add(_ request: Request, for program: Int) { requests[program, default: []].append(request) }

    func takeRequest(_ program: Int) -> Request? {
        guard let first = requests[program]?.first else { return nil }
        requests[program]?.removeFirst()
        return first
    }

    func hasRequest(_ program: Int) -> Bool { requests[program]?.isEmpty == false }
}

/// The directory that only the programs see.
func hiddenDirectory(below folder: String) -> String { folder + "/hidden" }
