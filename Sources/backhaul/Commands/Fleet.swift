#if FLEET
import Backhaul
import BackhaulFleet
import Glibc

/// The command `fleet`: makes the tables of a fleet, and shows and drains its workers.
struct Fleet: DescribedCommand {
    static let description = CommandDescription(
        name: "fleet", operands: "init | status | workers | drain WORKER... | origins | limit URL | grant KIND ROLE",
        summary: "set up and watch a queue in PostgreSQL that many machines drain",
        examples: [
            "backhaul fleet init --store postgresql://db.example.org/backhaul",
            "backhaul fleet status --store postgresql://db.example.org/backhaul --json",
            "backhaul fleet drain worker1 --store postgresql://db.example.org/backhaul",
            "backhaul fleet limit https://example.org --starts-per-minute 120",
            "backhaul fleet grant worker backhaul_worker",
            "backhaul fleet grant host mirror org.example.mirror",
        ],
        options: [
            OptionDescription(
                "connections", nil, "NUMBER",
                "of `limit`: connections of all workers together to the origin of URL; 0: the number of the fleet"),
            OptionDescription(
                "starts-per-minute", nil, "NUMBER",
                "of `limit`: downloads that all workers together start at the origin of URL; 0: no limit"),
        ],
        details: """
            init makes the tables in the schema `backhaul`, or brings those of an older version to the newest one.
            status counts the tasks. workers lists the workers with their leases. drain lets workers finish their
            tasks and then exit. Each `backhaul worker` runs one worker. origins lists the origins (scheme, host and
            port) that have tasks or limits. limit sets the limits of one origin, and keeps those that are not given.
            grant gives a role of the database the rights of a worker (grant worker ROLE), or of the hosts of one
            application (grant host ROLE APPLICATION), which do not see the tasks of other applications.

            With --json, status writes one document: {"queued", "suspended", "running", "events", "workers",
            "oldest_queued_ms"}. workers writes one line for each worker: {"id", "name", "draining", "running_tasks",
            "lease_ms"}. origins writes one line for each origin: {"origin", "connections", "starts_per_minute",
            "pause_ms", "queued", "running"}.
            """, storeUse: .makes, usesSession: false)

    private enum Action: String { case `init`, status, workers, drain, origins, limit, grant }

    private let action: Action
    private let names: [String]
    private let connections: Int64?
    private let startsPerMinute: Int64?

    init(_ arguments: Arguments) throws(CommandError) {
        guard let word = arguments.operands.first, let action = Action(rawValue: word) else {
            throw .usage("`fleet` takes one of: init, status, workers, drain, origins, limit, grant")
        }
        self.action = action
        names = Array(arguments.operands.dropFirst())
        if action == .drain, names.isEmpty { throw .usage("`fleet drain` needs the name of a worker") }
        if action == .limit, names.count != 1 {
            throw .usage("`fleet limit` needs one URL, such as https://example.org")
        }
        let isGrant = names.first == "worker" && names.count == 2 || names.first == "host" && names.count == 3
        if action == .grant, !isGrant {
            throw .usage("`fleet grant` needs `worker ROLE`, or `host ROLE APPLICATION`")
        }
        if ![.drain, .limit, .grant].contains(action), !names.isEmpty {
            throw .usage("`fleet \(word)` takes no further words")
        }
        connections = try arguments.number("connections", in: 0...10_000)
        startsPerMinute = try arguments.number("starts-per-minute", in: 0...1_000_000)
        let isLimited = connections != nil || startsPerMinute != nil
        guard isLimited == (action == .limit) else {
            throw .usage(
                isLimited
                    ? "--connections and --starts-per-minute belong to `fleet limit`"
                    : "`fleet limit` needs --connections or --starts-per-minute")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let address = try context.databaseAddress()
        switch action {
        case .`init`:
            try Self.call { () throws(FleetError) in try FleetAdministration.makeTables(address) }
            context.output.note("The tables of the fleet are made.")
        case .status:
            let status = try Self.call { () throws(FleetError) in try FleetAdministration(address).status() }
            try show(status, context.output)
        case .workers:
            let workers = try Self.call { () throws(FleetError) in try FleetAdministration(address).workers() }
            try show(workers, context.output)
        case .drain:
            for name in names {
                let count = try Self.call { () throws(FleetError) in try FleetAdministration(address).drain(name) }
                if count == 0 { throw .stopped(.notFound, "the fleet has no worker \(name)") }
            }
        case .origins:
            let origins = try Self.call { () throws(FleetError) in try FleetAdministration(address).origins() }
            for origin in origins { try show(origin, context.output) }
        case .limit:
            try Self.call { () throws(FleetError) in
                try FleetAdministration(address).limit(
                    originOf: names[0], connections: connections, startsPerMinute: startsPerMinute)
            }
        case .grant:
            try Self.call { () throws(FleetError) in
                let fleet = try FleetAdministration(address)
                if names[0] == "worker" { return try fleet.grantWorker(names[1]) }
                try fleet.grantHost(names[1], application: names[2])
            }
        }
        return .done
    }

    /// Calls the module of fleets. Its error becomes the error of the command.
    fileprivate static func call<Value>(_ body: () throws(FleetError) -> Value) throws(CommandError) -> Value {
        do throws(FleetError) {
            return try body()
        } catch {
            throw .stopped(ExitCode(Status(rawValue: error.status)), error.message)
        }
    }

    private func show(_ status: FleetAdministration.Status, _ output: Output) throws(CommandError) {
        guard output.isJSON else {
            let seconds = status.oldestQueuedMilliseconds / 1_000
            let lines = [
                ("queued", "\(status.queued)" + (status.queued > 0 ? ", the oldest for \(seconds) s" : "")),
                ("suspended", "\(status.suspended)"), ("running", "\(status.running)"),
                ("events", "\(status.events)"), ("workers", "\(status.workers)"),
            ]
            try output.result(lines: lines.map { Text.padded($0.0 + ":", columns: 12) + $0.1 })
            return
        }
        try output.result(
            .object([
                ("queued", .number(status.queued)), ("suspended", .number(status.suspended)),
                ("running", .number(status.running)), ("events", .number(status.events)),
                ("workers", .number(status.workers)), ("oldest_queued_ms", .integer(status.oldestQueuedMilliseconds)),
            ]))
    }

    private func show(_ workers: [FleetAdministration.WorkerInfo], _ output: Output) throws(CommandError) {
        for worker in workers {
            guard output.isJSON else {
                let lease = worker.leaseMilliseconds < 0 ? "lost" : worker.isDraining ? "draining" : "working"
                try output.result(
                    "\(Text.padded(Text.visible(worker.name), columns: 20))  \(Text.padded(lease, columns: 8))  "
                        + "\(worker.runningTasks) tasks  \(worker.id)")
                continue
            }
            try output.result(
                .object([
                    ("id", .string(worker.id)), ("name", .string(worker.name)), ("draining", .bool(worker.isDraining)),
                    ("running_tasks", .number(worker.runningTasks)), ("lease_ms", .integer(worker.leaseMilliseconds)),
                ]))
        }
        if workers.isEmpty { output.noteOnTerminal("The fleet has no workers.") }
    }

    private func show(_ origin: FleetAdministration.OriginInfo, _ output: Output) throws(CommandError) {
        guard !output.isJSON else {
            return try output.result(
                .object([
                    ("origin", .string(origin.name)), ("connections", .number(origin.connections)),
                    ("starts_per_minute", .number(origin.startsPerMinute)),
                    ("pause_ms", .integer(origin.pauseMilliseconds)), ("queued", .number(origin.queuedTasks)),
                    ("running", .number(origin.runningTasks)),
                ]))
        }
        var words = ["\(origin.queuedTasks) queued", "\(origin.runningTasks) running"]
        if let connections = origin.connections { words.append("\(connections) connections") }
        if let starts = origin.startsPerMinute { words.append("\(starts) starts per minute") }
        if origin.pauseMilliseconds > 0 { words.append("paused for \(origin.pauseMilliseconds / 1_000) s") }
        try output.result("\(Text.padded(Text.visible(origin.name), columns: 40))  \(words.joined(separator: ", "))")
    }
}

/// The command `worker`: runs a worker of a fleet in this process.
struct FleetWorker: DescribedCommand {
    static let description = CommandDescription(
        name: "worker", operands: "", summary: "download for a queue in PostgreSQL, as one of many machines",
        examples: ["backhaul worker --store postgresql://db.example.org/backhaul"],
        options: [
            OptionDescription("name", nil, "NAME", "the worker's name in `backhaul fleet workers` (the host's name)"),
            OptionDescription(
                "directory", nil, "DIRECTORY",
                "where the worker keeps its unfinished files ($XDG_STATE_HOME/backhaul-worker)"),
            OptionDescription(
                "lease", nil, "SECONDS", "after this time without contact, others run this worker's tasks (30)"),
        ],
        details: """
            Runs until a signal ends it, or until `backhaul fleet drain` has drained it. All workers must reach the
            directories of the destinations under the same paths. A restarted worker with the same --directory continues
            its transfers.
            """, storeUse: .makes, usesSession: false)

    private let name: String?
    private let directory: String?
    private let leaseSeconds: Int64

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`worker` takes no arguments") }
        name = arguments.value("name")
        directory = try arguments.value("directory").map { path throws(CommandError) in try Paths.absolute(path) }
        leaseSeconds = try arguments.setting("lease", in: 3...3_600).flatMap { $0.map(Int64.init) } ?? 30
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        var options = WorkerOptions(
            address: try context.databaseAddress(), name: name ?? Self.hostName, directory: try directoryPath())
        options.leaseMilliseconds = leaseSeconds * 1_000
        let output = context.output
        options.log = { [isQuiet = output.isQuiet] sentence in
            if !isQuiet { Output.writeError(sentence) }
        }
        let isStopped = { context.signals.isPending }
        let worker = try Fleet.call { () throws(FleetError) in try Worker(options, isStopped: isStopped) }
        guard let worker else { return .done }
        output.note("The worker \(options.name) takes tasks.")
        worker.run(isStopped: isStopped)
        return .done
    }

    private func directoryPath() throws(CommandError) -> String {
        if let directory { return directory }
        let state = try Paths.stateDirectory()
        try Paths.makeDirectories(state)
        return Paths.join(state, "backhaul-worker")
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "worker" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Context {
    /// The address of the fleet's database. Throws if the store is a directory.
    fileprivate func databaseAddress() throws(CommandError) -> DatabaseAddress {
        let store = try storePath(making: false)
        guard Paths.isAddress(store) else {
            throw .usage("name the database of the fleet with --store postgresql://HOST/DATABASE")
        }
        return try Fleet.call { () throws(FleetError) in try DatabaseAddress(store) }
    }
}
#endif
