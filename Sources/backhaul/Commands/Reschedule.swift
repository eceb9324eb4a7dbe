import Backhaul

/// The command `reschedule`: changes the times at which transfers may start.
struct Reschedule: DescribedCommand {
    static let description = CommandDescription(
        name: "reschedule", operands: ControlOptions.operands, summary: "change when transfers start",
        examples: [
            "backhaul reschedule 12 --earliest-start now",
            "backhaul reschedule --all --earliest-start 23:00 --latest-start none",
        ],
        options: [
            OptionDescription(
                "earliest-start", nil, "now|TIME",
                "do not start before: 06:30 (the next one), +2h, 2026-11-21T06:30 (local time), or with Z or +01:00"),
            OptionDescription(
                "latest-start", nil, "now|none|TIME",
                "from this time on ignore presets (--discretionary, --overnight), also those of the session"),
        ] + ControlOptions.descriptions,
        details: """
            A time that you omit stays. A transfer that waited for its start starts if it may start now. A running
            transfer continues, and only its next attempt waits; --json counts these as "running".
            """ + " " + ControlOptions.details)

    private let earliest: Int64?
    private let latest: Int64?
    private let options: ControlOptions

    init(_ arguments: Arguments) throws(CommandError) {
        options = try ControlOptions(arguments, "reschedule")
        earliest =
            ["", "now", "none"].contains(arguments.value("earliest-start"))
            ? 0 : try arguments.time("earliest-start")
        latest =
            switch arguments.value("latest-start") {
            case "", "none": 0
            case "now": Clock.wallMilliseconds
            default: try arguments.time("latest-start", after: earliest)
            }
        guard earliest != nil || latest != nil else {
            throw .usage("`reschedule` takes --earliest-start, such as now or 06:30, or --latest-start, or both")
        }
        if let earliest, let latest { try Reschedule.check(earliest, latest) }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try options.run("rescheduled", context) { (session, named) throws(CommandError) in
            for task in named {
                try Reschedule.check(
                    earliest ?? task.earliestStartMilliseconds ?? 0, latest ?? task.latestStartMilliseconds ?? 0,
                    of: task)
            }
            func start(_ time: Int64?) -> StartChange { time.map { $0 == 0 ? .removed : .at($0) } ?? .unchanged }
            var change = ControlOptions.Change(
                affected: try session.run(
                    .reschedule(options.selection, earliestStart: start(earliest), latestStart: start(latest))))
            let running = try running(session)
            change.running = running
            if let earliest, earliest > Clock.wallMilliseconds, running > 0 {
                let (verb, attempts) =
                    running == 1
                    ? ("is running and continues", "its next attempt waits")
                    : ("are running and continue", "their next attempts wait")
                change.remark = "\(running) of them \(verb); \(attempts) until \(Text.dateAndTime(earliest))."
            }
            return change
        }
    }

    /// The number of selected tasks that are running.
    private func running(_ session: Session) throws(CommandError) -> Int {
        var selection = options.selection
        selection.states = [.running]
        // At most 1,024 tasks run at the same time.
        return try session.tasks(selection, maximum: 1024).count
    }

    /// Checks that the latest start is not before the earliest start. A time of 0 sets no limit.
    private static func check(_ earliest: Int64, _ latest: Int64, of task: TaskInfo? = nil) throws(CommandError) {
        guard earliest > 0, latest > 0, latest < earliest else { return }
        let whose = task.map { " of transfer \($0.id)" } ?? ""
        let (its, advice) = task == nil ? ("", "") : ("its ", "; give both options")
        throw .usage(
            "--latest-start\(whose), \(Text.dateAndTime(latest)), is before "
                + "\(its)--earliest-start, \(Text.dateAndTime(earliest))\(advice)")
    }
}
