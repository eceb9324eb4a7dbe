import Backhaul

struct Limits: DescribedCommand {
    static let description = CommandDescription(
        name: "limits", operands: "[set]", summary: "show or set the limits that all sessions share",
        examples: ["backhaul limits", "backhaul limits set --limit-rate 2M --parallel-max 8"],
        options: [
            OptionDescription(
                "limit-rate", nil, "BYTES", "per second, sent and received, such as 500k, 10M or 2G; 0: no limit"),
            OptionDescription("parallel-max", nil, "NUMBER", "transfers at a time (256)"),
            OptionDescription("connections", nil, "NUMBER", "connections at a time (256)"),
            OptionDescription(
                "connections-per-origin", nil, "NUMBER",
                "connections to one origin at a time; 0: only each session's own limit"),
        ],
        details: """
            `limits set` keeps the limits that are not given; 0 or '' resets one to its default. The limits apply
            immediately and are stored. With --json one document: bytes_per_second, maximum_running_tasks,
            maximum_connections and connections_per_origin; null means no limit.
            """, storeUse: .makes, usesSession: false)

    private let rate: UInt64??
    private let runningTasks: Int??
    private let connections: Int??
    private let connectionsPerOrigin: Int??
    private let sets: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        rate = try arguments.bytes("limit-rate")
        runningTasks = try arguments.setting("parallel-max", in: 0...1024)
        connections = try arguments.setting("connections", in: 0...1024)
        connectionsPerOrigin = try arguments.setting("connections-per-origin", in: 0...256)
        sets = arguments.operands == ["set"]
        guard sets || arguments.operands.isEmpty else { throw .usage("`limits` takes no argument but `set`") }
        let isGiven = rate != nil || runningTasks != nil || connections != nil || connectionsPerOrigin != nil
        guard sets == isGiven else {
            throw .usage(
                sets ? "`limits set` needs a limit, such as --limit-rate 2M" : "to set limits, use `limits set`")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var limits = try application.limits()
            if sets {
                if let rate { limits.bytesPerSecond = rate }
                if let runningTasks { limits.maximumRunningTasks = runningTasks }
                if let connections { limits.maximumConnections = connections }
                if let connectionsPerOrigin { limits.connectionsPerOrigin = connectionsPerOrigin }
                try application.run(.setLimits(limits))
                limits = try application.limits()
            }
            if context.output.isJSON {
                try context.output.result(limits.json)
            } else {
                try context.output.result(lines: Limits.lines(limits))
            }
            return .done
        }
    }

    private static func lines(_ limits: Backhaul.Limits) -> [String] {
        let rows: [(name: String, value: String)] = [
            ("rate", limits.bytesPerSecond.map { Text.size($0) + "/s" } ?? "no limit"),
            ("transfers", String(limits.maximumRunningTasks ?? 0)),
            ("connections", String(limits.maximumConnections ?? 0)),
            ("per origin", limits.connectionsPerOrigin.map { String($0) } ?? "set by each session"),
        ]
        return rows.map { Text.padded($0.name + ":", columns: 14) + $0.value }
    }
}
