import Backhaul

/// The command `activities`: lists, sets and removes activities.
struct Activities: DescribedCommand {
    static let description = CommandDescription(
        name: "activities", operands: "[set ACTIVITY [URL] | remove ACTIVITY]",
        summary: "list, set or remove work that repeats",
        examples: [
            "backhaul activities set news --every 24h https://example.org/news",
            "backhaul activities remove news",
        ],
        options: [
            OptionDescription("every", nil, "DURATION", "how often: 15m, 24h, 7d, ..."),
            OptionDescription(
                "tolerance", nil, "DURATION", "how much later than its time it may start (half of --every)"),
            OptionDescription(
                "quality", nil, "background|utility|user_initiated",
                "what it waits for within that time: background as --discretionary, utility for an unmetered network, "
                    + "user_initiated for nothing (background)"),
            OptionDescription(
                "first", nil, "TIME", "the first time at which it may start, such as 04:00 or +10m (after --every)"),
            OptionDescription("once", nil, nil, "run it only once"),
        ] + DownloadOptions.descriptions.filter { !unsupportedOptions.contains($0.name) }
            + Setting.options(Setting.sessionSettings).map(\.hidden) + CredentialOptions.refused,
        details: """
            Each activity has windows of time: one opens every --every, and stays open for --tolerance. The activity
            starts in its window as soon as the conditions are met, or at the end of the window in any case. If windows
            passed while no engine ran, the activity runs once for all of them. With a URL it downloads the file to the
            same path each time, as `add --if-exists replace` does. Without a URL it starts the program that is
            registered for the application (`backhaul register`); `backhaul events` lists which activity is due. With
            --json each activity is one line.
            """, isHost: true, storeUse: .makes)

    /// Options of `get` that an activity refuses, because the activity repeats its request.
    private static let unsupportedOptions: Set<String> = [
        "input", "create-dirs", "checksums", "earliest-start", "latest-start", "if-changed",
    ]

    private enum Action {
        case list
        case set(Activity)
        case remove(String)
    }

    private let action: Action

    init(_ arguments: Arguments) throws(CommandError) {
        let words = arguments.operands
        try Setting.refuse(Setting.sessionSettings, arguments)
        try CredentialOptions.refuse(arguments, for: "activities")
        let typed = Activities.description.options.first { arguments.isTyped($0.name) }
        if let typed, words.first != "set" { throw .usage("--\(typed.name) goes with `activities set`") }
        switch (words.first, words.count) {
        case (nil, _): action = .list
        case ("set", 2...3): action = .set(try Activities.activity(arguments, words[1], url: words.dropFirst(2).first))
        case ("remove", 2): action = .remove(words[1])
        default: throw .usage("`activities` takes nothing, `set NAME`, `set NAME URL`, or `remove NAME`")
        }
    }

    private static func activity(
        _ arguments: Arguments, _ name: String, url: String?
    ) throws(CommandError) -> Activity {
        guard let interval = try arguments.duration("every") else {
            throw .usage("`activities set` needs the interval; give it with --every, such as --every 24h")
        }
        var activity = Activity(name, every: .milliseconds(interval))
        if let tolerance = try arguments.duration("tolerance") {
            guard tolerance < interval else {
                throw .usage(
                    "--tolerance, \(Text.exactDuration(milliseconds: tolerance)), is not less than --every, "
                        + "\(Text.exactDuration(milliseconds: interval))")
            }
            activity.tolerance = tolerance == 0 ? nil : .milliseconds(tolerance)
        }
        activity.qualityOfService = try arguments.choice("quality", Activity.QualityOfService.self) ?? nil
        activity.firstMilliseconds = try arguments.time("first")
        activity.repeats = !arguments.has("once")
        if let url {
            if arguments.has("skip-existing") { throw .usage("--skip-existing makes no sense for work that repeats") }
            // The request has no key, because each start of the activity makes a new task.
            var request = try DownloadOptions(arguments, urls: [url]).transfers[0].request
            if !arguments.has("if-exists") && !request.isNamedByServer { request.ifExists = .replace }
            activity.request = request
        } else if let option = DownloadOptions.descriptions.first(where: { arguments.has($0.name) }) {
            throw .usage("--\(option.name) is about a transfer; give a URL after the activity's name")
        }
        return activity
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            switch action {
            case .list:
                guard let session = try context.attach(application, role: .observe) else { return .done }
                try list(try session.run(.activities), context)
            case .set(let activity):
                let session = try application.create(
                    SessionSettings(identifier: context.sessionName), role: .produce)
                try session.run(.setActivity(activity))
                try list(try session.run(.activities).filter { $0.identifier == activity.identifier }, context)
            case .remove(let name):
                let session = try application.attach(context.sessionName, role: .produce)
                try session.run(.removeActivity(name))
                context.output.note("Activity \(name) is removed; its transfers continue.")
            }
            return .done
        }
    }

    private func list(_ activities: [ActivityInfo], _ context: Context) throws(CommandError) {
        if context.output.isJSON {
            try context.output.result(lines: activities.map { $0.json.text })
        } else {
            try context.output.result(lines: Activities.table(activities, now: Clock.wallMilliseconds))
        }
    }

    static func table(_ activities: [ActivityInfo], now: Int64) -> [String] {
        if activities.isEmpty { return [] }
        let rows = activities.map { activity in
            [
                activity.identifier,
                activity.repeats ? Text.exactDuration(activity.interval) : "once",
                Text.period(activity.nextMilliseconds, activity.nextEndsMilliseconds, now: now),
                activity.qualityOfService.word,
                activity.lastStartedMilliseconds.map { Text.dateAndTime($0, now: now) }.map {
                    $0 + (activity.lastTask.map { " (task \($0))" } ?? "")
                } ?? "never",
                activity.url ?? "starts the program",
            ]
        }
        return Text.table([["ACTIVITY", "EVERY", "NEXT WINDOW", "QUALITY", "LAST", "DOES"]] + rows)
    }
}
