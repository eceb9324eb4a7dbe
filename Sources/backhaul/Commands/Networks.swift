import Backhaul

/// The command `networks`: shows the networks and the bytes that were moved on them, or sets a network's budget. A
/// *budget* is the number of bytes that may be moved in a day or month.
struct Networks: DescribedCommand {
    static let description = CommandDescription(
        name: "networks", operands: "[NETWORK]",
        summary: "show networks and the bytes moved on them, or set budgets",
        examples: [
            "backhaul networks", "backhaul networks Hotspot --metered yes --monthly-budget 5GB",
        ],
        options: [
            OptionDescription(
                "metered", nil, "yes|no|auto", "whether the network is metered; auto: as the system reports"),
            OptionDescription(
                "daily-budget", nil, "BYTES|none|nothing", "limit for all sessions together in a day: 500MB, 2G, ..."),
            OptionDescription("monthly-budget", nil, "BYTES|none|nothing", "the same, in a month"),
            OptionDescription("month-starts-on", nil, "DAY", "1 to 28, on which a month of the budget begins (1)"),
            OptionDescription("forget", nil, nil, "remove all settings of the network"),
        ],
        details: """
            A network is a connection of NetworkManager or, without it, the interface of the default route. Budgets
            count sent and received bytes, and days and months in local time: 2GB is 2,000,000,000 bytes, 2G and 2GiB
            are 2,147,483,648. Transfers that would exceed a budget wait for the next day or month, or for another
            network. Settings that you do not name stay; '' resets one. With --json each network is one line.
            """, storeUse: .makes, usesSession: false)

    private let name: String?
    private let forgets: Bool
    private let metered: Bool??
    private let daily: UInt64??
    private let monthly: UInt64??
    private let monthStartsOn: Int??

    private var sets: Bool {
        forgets || metered != nil || daily != nil || monthly != nil || monthStartsOn != nil
    }

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.count <= 1 else { throw .usage("`networks` takes one name; quote one with blanks") }
        name = arguments.operands.first
        metered = try arguments.choice("metered", [("yes", true), ("no", false), ("auto", nil)])
        daily = try arguments.budget("daily-budget")
        monthly = try arguments.budget("monthly-budget")
        monthStartsOn = try arguments.setting("month-starts-on", in: 1...28)
        forgets = arguments.has("forget")
        guard name != nil || !sets else { throw .usage("which network? `backhaul networks` shows the names") }
        if forgets && (metered != nil || daily != nil || monthly != nil || monthStartsOn != nil) {
            throw .usage("--forget goes with no other option")
        }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            var networks = try application.run(.networks)
            if let name {
                let known = networks.first { $0.name == name }
                if sets {
                    try application.run(.setNetwork(changed(known ?? Network(name))))
                    networks = try application.run(.networks)
                } else if known == nil {
                    throw .stopped(
                        .notFound, "there is no network \(name); `backhaul networks` lists the known ones")
                }
                networks = networks.filter { $0.name == name }
            }
            if context.output.isJSON {
                try context.output.result(lines: networks.map { $0.json.text })
            } else {
                try context.output.result(lines: Networks.table(networks, now: Clock.wallMilliseconds))
                if networks.isEmpty { context.output.note(Networks.nothing(name)) }
            }
            return .done
        }
    }

    private static func nothing(_ name: String?) -> String {
        name.map { "Network \($0) has no settings any more." }
            ?? "There is no network now, and none has settings or was used this month."
    }

    private func changed(_ network: Network) -> Network {
        if forgets { return Network(network.name) }
        var network = network
        if let metered { network.isMetered = metered }
        if let daily { network.budget.daily = daily }
        if let monthly { network.budget.monthly = monthly }
        if let monthStartsOn { network.monthStartsOn = monthStartsOn }
        return network
    }

    static func table(_ networks: [Network], now: Int64) -> [String] {
        if networks.isEmpty { return [] }
        let rows = networks.map { network in
            [
                network.name + (network.isCurrent ? " (now)" : ""), network.kindWord ?? "-",
                network.isMetered.map { $0 ? "yes" : "no" } ?? "auto",
                use(network.usedToday, network.budget.daily), use(network.usedThisMonth, network.budget.monthly),
                network.monthEndsMilliseconds.map { Text.dateAndTime($0, now: now) } ?? "-",
            ]
        }
        return Text.table([["NETWORK", "KIND", "METERED", "TODAY", "THIS MONTH", "NEXT MONTH"]] + rows)
    }

    /// The use of a budget, such as "1.2 GB of 2.0 GB [======    ]". Without a budget, only the used bytes, such as
    /// "1.2 GB".
    static func use(_ used: UInt64, _ budget: UInt64?) -> String {
        guard let bytes = budget else { return Text.size(used) }
        let columns = 10
        let filled = bytes == 0 ? columns : Int(min(1, Double(used) / Double(bytes)) * Double(columns))
        return "\(Text.size(used)) of \(Text.size(bytes)) [" + String(repeating: "=", count: filled)
            + String(repeating: " ", count: columns - filled) + "]"
    }
}
