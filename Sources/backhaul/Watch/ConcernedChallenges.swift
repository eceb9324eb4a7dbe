import Backhaul

/// Finds the challenges for which some tasks of a session wait. Other tasks of the session may wait for other
/// challenges.
enum ConcernedChallenges {
    /// The number of tasks whose attempts are read. Tasks that wait for a credential mostly have the same origins.
    private static let sampleSize = 100

    /// - Parameter waiting: Tasks that wait for a challenge.
    static func of(
        _ waiting: [TaskInfo], _ challenges: [Challenge], _ session: Session
    ) throws(CommandError) -> [Challenge] {
        if waiting.isEmpty || challenges.isEmpty { return [] }
        let ids = Set(waiting.map { $0.id })
        let servers = Set(challenges.filter { !$0.isProxy && $0.taskID == nil }.map { $0.origin })
        var origins: Set<String> = []
        var elsewhere: [TaskInfo] = []
        for task in waiting {
            let origin = origin(of: task.url)
            if servers.contains(origin) { origins.insert(origin) } else { elsewhere.append(task) }
        }
        // These tasks wait for a proxy, or for the server to which a redirect led.
        var isProxyConcerned = false
        for task in elsewhere.prefix(sampleSize) {
            if let last = try session.run(.attempts(task.id)).last, last.httpStatus != 407 {
                origins.insert(origin(of: last.url))
            } else {
                isProxyConcerned = true
            }
        }
        let concerned = challenges.filter { challenge in
            if let task = challenge.taskID { return ids.contains(task) }
            return challenge.isProxy ? isProxyConcerned : origins.contains(challenge.origin)
        }
        // The tasks wait for one of the challenges, so a list without any would be wrong.
        return concerned.isEmpty ? challenges : concerned
    }

    /// The origin of a URL in the form of `Challenge.origin`, such as "https://example.org:443".
    static func origin(of url: String) -> String {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        let host = TransferName.host(of: url).lowercased()
        // An IPv6 address in brackets has colons, too.
        let hasPort = host.split(separator: "]", omittingEmptySubsequences: false).last?.contains(":") == true
        return "\(scheme)://\(host)" + (hasPort ? "" : scheme == "https" ? ":443" : ":80")
    }
}
