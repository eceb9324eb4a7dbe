import BackhaulUserManager
import Backhaul

/// The findings of `backhaul doctor` about the engine of a store. If no engine runs, one finding states this.
struct DoctorEngine {
    private(set) var findings: [Finding] = []
    /// Whether the engine is a daemon in a systemd service without other processes.
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
            guard let engine = try application.run(.engine) else { return }
            findings += [DoctorEngine.engine(engine), store.socket]
            if engine.hosting == .daemon { findings.append(unit(of: engine)) }
            try addFindings("launch") { () throws(CommandError) in
                try application.run(.launches).map(DoctorEngine.launch)
            }
            try addFindings("session") { () throws(CommandError) in
                try application.run(.sessions).compactMap(DoctorEngine.stopped)
            }
        } catch {
            guard case .failure(let failure) = error else { throw error }
            // This check starts no engine. If the engine has ended meanwhile, the status is `.daemonUnavailable`.
            findings +=
                failure.status == .daemonUnavailable && !store.isLocked
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
            hasTimedOut = failure.status == .timeout || failure.status == .engineUnresponsive
            findings.append(.warning(subject, failure.message))
        }
    }

    private static func engine(_ engine: EngineInfo) -> Finding {
        let seconds = max(0, (Clock.wallMilliseconds - engine.startedMilliseconds) / 1000)
        let version = "\(engine.version >> 16).\(engine.version >> 8 & 0xff).\(engine.version & 0xff)"
        return .ok(
            "engine",
            "process \(engine.processID), \(engine.hosting == .daemon ? "the daemon" : "embedded in a program"), "
                + "version \(version), since \(Text.duration(seconds: seconds)), "
                + Text.count(engine.connections, "connection"))
    }

    private mutating func unit(of engine: EngineInfo) -> Finding {
        guard let process = Int32(exactly: engine.processID), let place = DaemonService.place(ofProcess: process) else {
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

    private static func launch(_ launch: LaunchInfo) -> Finding {
        let text = "\(launch.application): \(launch.program)"
        let advice = launch.errorMessage
        if let reason = launch.programFault, launch.state != .gaveUp {
            let due = launch.state == .due ? "due \(Text.time(until: launch.nextLaunchMilliseconds ?? 0)), but " : ""
            return .warning("launch", "\(text), \(due)the program cannot be started: \(reason)", advice)
        }
        switch launch.state {
        case .due:
            let due = "\(text), due \(Text.time(until: launch.nextLaunchMilliseconds ?? 0))"
            if advice == nil && launch.launches == 0 { return .ok("launch", due) }
            let launches = Text.count(launch.launches, "launch", "launches")
            return .warning("launch", "\(due), after \(launches) that did not complete", advice)
        case .running: return .ok("launch", "\(text), runs as process \(launch.processID ?? 0)")
        case .gaveUp:
            return .warning(
                "launch", "\(text), given up after \(Text.count(launch.launches, "launch", "launches"))",
                advice ?? "It never completed its sessions; start it by hand to see why.")
        case .notNeeded: return advice.map { .warning("launch", text, $0) } ?? .ok("launch", text)
        }
    }

    /// A warning if the consumer of the session is stopped.
    private static func stopped(_ session: SessionInfo) -> Finding? {
        guard let time = session.consumerStoppedMilliseconds, let consumer = session.consumer else { return nil }
        let seconds = max(0, (Clock.wallMilliseconds - time) / 1000)
        return .warning(
            "session",
            "\(session.identifier): process \(consumer), which reads its events, is stopped since "
                + Text.duration(seconds: seconds), "`kill -CONT \(consumer)` continues it.")
    }
}
