import BackhaulUserManager
import CBackhaul

/// The findings (lines of the output) of `backhaul doctor` about the engine of a store. The *engine* is the process
/// that runs the tasks of the store, which is the directory with all data. If no engine runs, one finding states this.
struct DoctorEngine {
    private(set) var findings: [Finding] = []
    /// Whether the engine is a daemon (a process that runs only the engine) in a systemd service without other
    /// processes.
    private(set) var isSeparateService = false
    private var hasTimedOut = false

    init(_ store: DoctorStore, _ context: Context) throws(CommandError) {
        guard store.isLocked else {
            findings = [DoctorEngine.none(store, context)]
            return
        }
        do throws(CommandError) {
            let application = try Application(
                observing: store.path, identifier: context.applicationName, signals: context.signals)
            defer { application.close() }
            guard let engine = try application.engine() else { return }
            findings += [DoctorEngine.engine(engine), store.socket]
            if engine.isDaemon { findings.append(unit(of: engine)) }
            try addFindings("launch") { () throws(CommandError) in try application.launches().map(DoctorEngine.launch) }
            try addFindings("session") { () throws(CommandError) in
                try application.sessions().filter { $0.consumerStopped != 0 }.map(DoctorEngine.stopped)
            }
        } catch {
            guard case .failure(let failure) = error else { throw error }
            // This check starts no engine. If the engine has ended meanwhile, the status is BH_DAEMON_UNAVAILABLE.
            findings += failure.is(BH_DAEMON_UNAVAILABLE) && !store.isLocked
                ? [DoctorEngine.none(store, context)] : [.error("engine", failure.message), store.socket]
        }
    }

    /// The finding for a store without an engine. An engine that exits by itself removes its socket. So if the socket
    /// still exists, the last engine was killed.
    private static func none(_ store: DoctorStore, _ context: Context) -> Finding {
        guard store.hasSocket else { return .ok("engine", "no engine runs; the next program that needs one starts it") }
        return .warning(
            "engine",
            "no engine runs, and the last one was killed or lost its power: transfers may wait for the next one",
            "`\(context.waitCommand)` starts it and follows them.")
    }

    /// Calls `question`, which sends a command to the engine, and adds the findings that `question` returns. If
    /// `question` fails, adds a warning instead, because an engine of another version may lack the command. If an
    /// earlier question timed out, this function does nothing, because each further question would probably time out,
    /// too.
    private mutating func addFindings(
        _ subject: String, _ question: () throws(CommandError) -> [Finding]
    ) throws(CommandError) {
        guard !hasTimedOut else { return }
        do throws(CommandError) {
            findings += try question()
        } catch {
            guard case .failure(let failure) = error else { throw error }
            hasTimedOut = failure.is(BH_TIMEOUT) || failure.is(BH_ENGINE_UNRESPONSIVE)
            findings.append(.warning(subject, failure.message))
        }
    }

    private static func engine(_ engine: EngineRecord) -> Finding {
        let seconds = max(0, (Clock.wallMilliseconds - engine.started) / 1000)
        return .ok(
            "engine",
            "process \(engine.process), \(engine.isDaemon ? "the daemon" : "embedded in a program"), "
                + "version \(engine.version), since \(Text.duration(seconds: seconds)), "
                + Text.count(Int(engine.connections), "connection"))
    }

    private mutating func unit(of engine: EngineRecord) -> Finding {
        guard let process = Int32(exactly: engine.process), let place = DaemonService.place(ofProcess: process) else {
            return .ok("stopping", "no service manager stops the daemon")
        }
        let unit = place.unit
        isSeparateService = unit.hasSuffix(".service") && place.isAlone
        if isSeparateService { return .ok("stopping", "the daemon is a service of its own, \(unit)") }
        if unit.hasSuffix(".service") {
            return .warning(
                "stopping", "the daemon runs in \(unit), and is stopped with it", "See docs/services.md for solutions.")
        }
        return .ok("stopping", "the daemon runs in \(unit), and ends if systemd stops that unit")
    }

    private static func launch(_ launch: LaunchRecord) -> Finding {
        let text = "\(launch.application): \(launch.program)"
        let advice = launch.errorMessage
        if let reason = launch.programFault, Int(launch.state) != BH_LAUNCH_GAVE_UP {
            let due = Int(launch.state) == BH_LAUNCH_DUE ? "due \(Text.time(until: launch.next)), but " : ""
            return .warning("launch", "\(text), \(due)the program cannot be started: \(reason)", advice)
        }
        switch Int(launch.state) {
        case BH_LAUNCH_DUE:
            let due = "\(text), due \(Text.time(until: launch.next))"
            if advice == nil && launch.launches == 0 { return .ok("launch", due) }
            let launches = Text.count(Int(launch.launches), "launch", "launches")
            return .warning("launch", "\(due), after \(launches) that did not complete", advice)
        case BH_LAUNCH_RUNNING: return .ok("launch", "\(text), runs as process \(launch.processID)")
        case BH_LAUNCH_GAVE_UP:
            return .warning(
                "launch", "\(text), given up after \(Text.count(Int(launch.launches), "launch", "launches"))",
                advice ?? "It never completed its sessions; start it by hand to see why.")
        default: return advice.map { .warning("launch", text, $0) } ?? .ok("launch", text)
        }
    }

    private static func stopped(_ session: SessionRecord) -> Finding {
        let seconds = max(0, (Clock.wallMilliseconds - session.consumerStopped) / 1000)
        return .warning(
            "session",
            "\(session.identifier): process \(session.consumer), which reads its events, is stopped since "
                + Text.duration(seconds: seconds), "`kill -CONT \(session.consumer)` continues it.")
    }
}
