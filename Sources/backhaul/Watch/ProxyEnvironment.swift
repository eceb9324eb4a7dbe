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
        guard let engine = try application.run(.engine), engine.hosting == .daemon,
            let other = variables(ofProcess: engine.processID)
        else { return }
        let given = variables.compactMap { name in environment(name).map { (name, $0) } }
        let own = Dictionary(uniqueKeysWithValues: given)
        let names = difference(own, other)
        guard !names.isEmpty, try session.configuration().proxy.url == nil else { return }
        context.output.note(
            "The daemon (process \(engine.processID)) was started with other proxy variables, and does not use those "
                + "of this command (\(names.joined(separator: ", "))); give the proxy, or none, with --proxy.")
    }

    /// The variables that differ. `no_proxy` has no effect if neither process has a proxy.
    private static func difference(_ own: [String: String], _ other: [String: String]) -> [String] {
        guard proxies.contains(where: { own[$0] != nil || other[$0] != nil }) else { return [] }
        return variables.filter { own[$0] != other[$0] }
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
