import Backhaul

/// The environment variables that name proxies.
enum ProxyEnvironment {
    private static let proxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let variables = proxies + ["no_proxy", "NO_PROXY"]

    /// Writes a note if this command has other variables than the daemon, and the session sets no proxy. The values are
    /// not shown, because they may contain a password.
    static func noteDifference(
        _ session: Session, _ application: Application, _ context: Context
    ) throws(CommandError) {
        guard let name = proxies.first(where: { environment($0) != nil }), let engine = try application.run(.engine),
            engine.hosting == .daemon, let other = variables(ofProcess: engine.processID),
            variables.contains(where: { environment($0) != other[$0] }),
            try session.configuration().proxy.url == nil
        else { return }
        context.output.note(
            "The daemon (process \(engine.processID)) was started with other proxy variables, and does not use \(name) "
                + "of this command; give the proxy with --proxy.")
    }

    private static func variables(ofProcess process: Int64) -> [String: String]? {
        guard let content = try? InputFile.content("/proc/\(process)/environ") else { return nil }
        let entries = content.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let pairs = entries.compactMap { entry in
            entry.firstIndex(of: "=").map { (String(entry[..<$0]), String(entry[entry.index(after: $0)...])) }
        }
        return Dictionary(pairs.filter { !$0.1.isEmpty }) { first, _ in first }
    }
}
