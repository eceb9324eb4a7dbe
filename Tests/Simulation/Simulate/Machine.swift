import CSimulation
import Glibc

/// What happens to the machine: the faults of the history, at their times.
final class Machine {
    private let history: History
    private let journal: Journal
    /// The file with what is not on the disk yet.
    private let savedFiles: String

    init(_ history: History, _ journal: Journal, folder: String) {
        (self.history, self.journal, savedFiles) = (history, journal, folder + ".saved")
    }

    /// Arranges the faults that have not happened yet. The faults of the time between two processes happen at once.
    func begin() {
        if let upgrade = history.upgrade {
            sim_after(max(0, upgrade - journal.time), { _ in world.machine.installNewerLibrary() }, nil)
        }
        if world.programs.isInspection { return }
        for index in journal.nextFault..<history.faults.count {
            // No engine can know how long a machine was off, so the calendar is set while the machine runs.
            let delay = history.faults[index].kind == .calendar ? 10 * second : 0
            // Unsafe: the number of the fault is passed as an address, which is never used.
            sim_after(
                max(delay, history.faults[index].time - journal.time),
                { world.machine.happen(Int(bitPattern: $0) - 1) }, UnsafeMutableRawPointer(bitPattern: index + 1))
        }
    }

    /// Each process that starts from now on has this version (`Versions.current` in debug builds).
    private func installNewerLibrary() {
        if journal.time <= history.upgrade ?? 0 { record(.libraryIsNewer) }
        setenv("BACKHAUL_VERSION", "9.0.0/9", 1)
    }

    /// Arranges the end of this process before a durable step.
    func endAtStep() {
        guard journal.choice.lastStep > 0 else { return }
        sim_kill_at_step(
            journal.choice.lastStep,
            { world.machine.isCutAtStep ? world.machine.cutPower(for: second) : world.machine.killAll(for: second) })
    }

    private var isCutAtStep: Bool { journal.choice.isPowerCut }

    /// The time of the next fault that the program performs itself.
    func nextRequest(_ program: Int) -> Int64? {
        if world.programs.isInspection { return nil }
        if world.programs.hasRequest(program) { return 0 }
        return history.faults[journal.nextFault...]
            .first { [.exit, .pause].contains($0.kind) && $0.program == program }?.time
    }

    private func happen(_ index: Int) {
        let fault = history.faults[index]
        // A calendar that is set later (`begin`) does not bring back the faults that have happened meanwhile.
        journal.nextFault = max(journal.nextFault, index + 1)
        switch fault.kind {
        case .kill: world.programs.kill(fault.program, for: fault.duration)
        case .killDaemon: world.programs.killDaemon()
        case .powerCut: cutPower(for: fault.duration)
        case .exit: world.programs.add(.exit(fault.duration), for: fault.program)
        case .outage:
            record(.outageBegins)
            world.servers.setOutage(true)
            sim_after(
                fault.duration,
                { _ in
                    world.machine.record(.outageEnds)
                    world.servers.setOutage(false)
                }, nil)
        case .calendar:
            record(.calendarIsSet, fault.duration)
            journal.calendar += fault.duration
            sim_step_calendar(fault.duration)
        case .stop: world.programs.stop(fault.program, for: fault.duration)
        case .pause: world.programs.add(.pause(fault.duration), for: fault.program)
        case .fullDisk:
            record(.diskFills, fault.duration)
            fullUntil = max(fullUntil, min(fault.time + fault.duration, History.lastFault))
        }
    }

    func killAll(for duration: Int64) -> Never {
        record(.processIsKilled)
        end(after: duration)
    }

    /// Ends the run. The power fails: what the programs know to be done must be on the disk.
    func endRun() -> Never {
        record(.powerFails)
        sim_power_cut(sim_random(), -1)
        sim_end_run(ProcessEnd.done)
    }

    /// The power fails. When the machine starts again, nothing fails any more, and the programs inspect what is left.
    func beginInspection() -> Never { cutPower(for: max(second, History.lastFault - world.servers.now)) }

    private func cutPower(for duration: Int64) -> Never {
        record(.powerFails)
        journal.boots += 1
        journal.bootTime = world.servers.now + duration - 20 * second
        sim_power_cut(sim_random(), -1)
        end(after: duration)
    }

    /// Ends all processes. The next ones start after the duration.
    func end(after duration: Int64) -> Never {
        journal.time = world.servers.now + duration
        let file = open(savedFiles, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        sim_files_save(file)
        close(file)
        sim_end_run(ProcessEnd.restart)
    }

    /// Decides whether a call on a file fails, and with which errno.
    private func failure(of call: sim_file_call, on name: String) -> Int32 {
        guard diskMayFail, !programReads else { return 0 }
        if history.failedCall > 0 {
            guard (call == SIM_MEMORY) == history.failsAllocation else { return 0 }
            calls += 1
            guard calls == history.failedCall, isFirstProcess else { return 0 }
            let code = code(for: call)
            record(.systemCallFails, Int64(calls), Int64(code))
            return code
        }
        guard ![SIM_SOCKET, SIM_THREAD].contains(call) else { return 0 }
        if isFull, [SIM_WRITE, SIM_CREATE, SIM_DIRECTORY].contains(call) { return ENOSPC }
        let disk = history.disk
        let isWeak = disk.weakCall == call && (!disk.hasOtherStore || Self.isInFiles(name))
        let failures = [disk.callsPerFailure, isWeak ? disk.weakCallsPerFailure : 0]
        guard failures.contains(where: { $0 > 0 && sim_random() % $0 == 0 }) else { return 0 }
        return code(for: call)
    }

    private func code(for call: sim_file_call) -> Int32 {
        switch call {
        case SIM_SYNC, SIM_READ: EIO
        case SIM_OPEN, SIM_SOCKET: EMFILE
        case SIM_THREAD: EAGAIN
        case SIM_MEMORY: ENOMEM
        case SIM_WRITE where sim_random() % 4 == 0: Int32(SIM_SHORT)
        default: [ENOSPC, EIO, EDQUOT, EROFS][Int(sim_random() % 4)]
        }
    }

    /// Whether this is the name of a file that a task makes, of its part file, or the path of their directory.
    private static func isInFiles(_ name: String) -> Bool {
        Int(name) != nil || name.hasPrefix(".backhaul-") || name.hasSuffix("/files")
    }

    /// Whether calls on files may fail now.
    var diskMayFail: Bool { mayFail(at: world.servers.now) }

    /// Whether the disk explains the failure of a call that ends now. The call may have lasted for some time.
    var diskMayHaveFailed: Bool { mayFail(at: max(0, world.servers.now - 60 * second)) }

    private func mayFail(at time: Int64) -> Bool {
        (history.disk.mayFail || history.failedCall > 0 || time < fullUntil) && time < History.lastFault
    }

    /// Until when the disk has no space.
    private var fullUntil: Int64 = 0
    private var isFull: Bool { world.servers.now < fullUntil }

    /// The calls of this process until now, and whether it is the first process of the run.
    private var calls: UInt64 = 0
    private var isFirstProcess: Bool { journal.time == 0 }

    /// Whether a program itself uses a file. Its calls never fail.
    var programReads = false

    /// Continues with the files that the last process has left.
    func loadFiles(below folder: String) {
        sim_set_boot(UInt64(journal.boots))
        sim_files_begin(folder, history.disk.isOrdered ? SIM_ORDERED : SIM_STRICT)
        sim_set_sync_time(history.disk.syncTime)
        sim_set_lie(sim_lie(journal.choice.ignoredSyncs))
        // A disk that was full when the last process ended is still full.
        for fault in history.faults[..<journal.nextFault] where fault.kind == .fullDisk {
            fullUntil = max(fullUntil, min(fault.time + fault.duration, History.lastFault))
        }
        if history.failsAllocation { sim_let_allocations_fail() }
        if history.hasDiskFaults {
            sim_set_file_faults { call, name, _ in
                world.machine.failure(of: call, on: name.map { String(cString: $0) } ?? "")
            }
        }
        let file = open(savedFiles, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        sim_files_load(file)
        close(file)
    }

    private func record(_ kind: Observation.Kind, _ first: Int64 = 0, _ second: Int64 = 0) {
        journal.add(Observation(time: world.servers.now, kind: kind, first: first, second: second))
    }
}
