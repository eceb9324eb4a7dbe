import CBackhaul

struct Limits: Command {
    static let description = CommandDescription(
        name: "limits", operands: "[set]", summary: "show or set what all sessions may use together",
        examples: ["backhaul limits", "backhaul limits set --limit-rate 2M --parallel-max 8"],
        options: [
            OptionDescription("limit-rate", nil, "BYTES", "a second, both ways, as 500k, 10M or 2G; 0: no limit"),
            OptionDescription("parallel-max", nil, "NUMBER", "transfers at a time (256)"),
            OptionDescription("connections", nil, "NUMBER", "connections at a time (256)"),
            OptionDescription(
                "connections-per-origin", nil, "NUMBER", "of all sessions together; 0: each session's own"),
        ],
        details: """
            `limits set` leaves what is not given as it is; 0 goes back to the default. They hold at once, and are
            remembered with the store. With --json one document: bytes_per_second, maximum_running_tasks,
            maximum_connections and connections_per_origin; null where there is no limit.
            """, storeUse: .makes, usesSession: false)

    private let rate: UInt64?
    private let runningTasks: UInt32?
    private let connections: UInt32?
    private let connectionsPerOrigin: UInt32?
    private let sets: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        rate = try arguments.bytes("limit-rate")
        runningTasks = try arguments.number("parallel-max", in: 0...1024).map { UInt32($0) }
        connections = try arguments.number("connections", in: 0...1024).map { UInt32($0) }
        connectionsPerOrigin = try arguments.number("connections-per-origin", in: 0...256).map { UInt32($0) }
        sets = arguments.operands == ["set"]
        guard sets || arguments.operands.isEmpty else { throw .usage("`limits` takes no argument but `set`.") }
        let isGiven = rate != nil || runningTasks != nil || connections != nil || connectionsPerOrigin != nil
        guard sets == isGiven else {
            throw .usage(sets ? "`limits set` takes the limits that are to be set." : "Limits are set by `limits set`.")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var limits = try application.limits()
            if sets {
                if let rate { limits.bytesPerSecond = rate }
                if let runningTasks { limits.runningTasks = runningTasks }
                if let connections { limits.connections = connections }
                if let connectionsPerOrigin { limits.connectionsPerOrigin = connectionsPerOrigin }
                try application.set(limits)
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

    private static func lines(_ limits: LimitsRecord) -> [String] {
        [
            ("rate", limits.bytesPerSecond == 0 ? "no limit" : Text.size(limits.bytesPerSecond) + "/s"),
            ("transfers", String(limits.runningTasks)), ("connections", String(limits.connections)),
            (
                "per origin",
                limits.connectionsPerOrigin == 0 ? "as each session says" : String(limits.connectionsPerOrigin)
            ),
        ].map { Text.padded($0.0 + ":", columns: 14) + $0.1 }
    }
}
