struct Doctor: DescribedCommand {
    static let description = CommandDescription(
        name: "doctor", operands: "", summary: "check the installation, the store and its engine",
        examples: ["backhaul doctor", "backhaul doctor --json --store /srv/photos/transfers"],
        details: """
            The command only reads: it starts no daemon, and neither creates nor locks the store.

            Each line is ok, a warning or an error. The exit code is 0 if there is no error. With --json each line is \
            {"subject", "level", "text", "advice"}.
            """)

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`doctor` takes no arguments") }
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let path = try context.storePath(making: false)
        let store = DoctorStore(path: path, makesParents: context.makesParents)
        var findings = [DoctorSystem.versions] + store.findings
        let engine = try DoctorEngine(store, context)
        findings +=
            engine.findings + [DoctorSystem.daemon]
            + DoctorSystem.manager(
                isDaemonSeparate: engine.isSeparateService)
        findings += store.log
        try context.output.result(lines: findings.map { context.output.isJSON ? $0.json.text : $0.line })
        let isStoreUnusable = findings.contains { $0.level == .error && $0.subject == "store" }
        if isStoreUnusable { return .storeUnusable }
        return findings.contains { $0.level == .error } ? .tryAgainLater : .done
    }
}
