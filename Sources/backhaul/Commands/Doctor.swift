import BackhaulUserManager
import Glibc

struct Doctor: DescribedCommand {
    static let description = CommandDescription(
        name: "doctor", operands: "", summary: "check the installation, the store and its engine",
        examples: [
            "backhaul doctor", "backhaul doctor --json --store /srv/photos/transfers", "backhaul doctor --repair",
        ],
        options: [
            OptionDescription(
                "repair", nil, nil, "make a damaged database again from what can be read, and print what is lost")
        ],
        details: """
            Without --repair, the command only reads: it starts no daemon, and neither creates nor locks the store.

            --repair moves the damaged database, unchanged, into a new folder of the store, such as damaged-1. A \
            database without damage stays as it is. No engine may use the store meanwhile. The exit code is 1 if \
            something is lost.

            Each line is ok, a warning or an error. The exit code is 0 if there is no error. With --json each line is \
            {"subject", "level", "text", "advice"}.
            """)

    private let repairs: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`doctor` takes no arguments") }
        repairs = arguments.has("repair")
    }

    /// Replaces this process by the daemon, which has the code for the database.
    private func repair(_ context: Context) throws(CommandError) -> ExitCode {
        guard !context.output.isJSON else { throw .usage("--repair prints text; omit --json") }
        let finder = DaemonFinder(path: nil)
        guard let program = finder.program else {
            throw .stopped(
                .libraryFailed, "the daemon backhauld is not at \(finder.paths.joined(separator: ", nor at "))")
        }
        let path = try Paths.resolved(context.storeDirectory(making: false))
        guard Paths.isDirectory(path) else { throw .stopped(.storeUnusable, "there is no store at \(path)") }
        let arena = CStringArena()
        // Unsafe: the strings are valid as long as the arena, and execv returns only if it fails.
        let words: [UnsafeMutablePointer<CChar>?] =
            [program, "--repair", "--store", path].map { UnsafeMutablePointer(mutating: arena.string($0)) }
        execv(program, words + [nil])
        throw .stopped(.libraryFailed, "\(program) cannot be started: \(reasonOfLastError())")
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        if repairs { return try repair(context) }
        let path = try context.storeDirectory(making: false)
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
