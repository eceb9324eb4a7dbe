import Backhaul

/// Handles open challenges while a command follows transfers. It responds with a credential that the user has given in
/// advance, prompts the user at the terminal, or writes a note with advice.
struct ChallengePrompter {
    /// A challenge that was reported to the user. When a credential is rejected, `failures` grows. Then the challenge
    /// is reported again.
    private struct ReportedChallenge: Hashable {
        let challenge: ChallengeID
        let failures: Int
    }

    private let context: Context
    private let credentials: GivenCredentials
    /// The time of the monotonic clock at which a prompt ends. Nil means no limit.
    private let deadline: Int64?
    /// The servers that have got one of these credentials, with their realms. A rejected credential is not sent again.
    private var answered: Set<[String]> = []
    private var reported: Set<ReportedChallenge> = []
    /// The open challenges that concern the command.
    private(set) var open: [Challenge] = []
    /// Whether the session may have a challenge that was not reported yet.
    private var isDue = true
    /// Whether an event has reported a challenge since the challenges were read.
    private(set) var hasNews = false

    init(_ context: Context, _ credentials: GivenCredentials, until deadline: Int64?) {
        self.context = context
        self.credentials = credentials
        self.deadline = deadline
    }

    mutating func noteNewChallenge() {
        isDue = true
        hasNews = true
    }

    /// Reads the open challenges, and prompts for each challenge that was not reported yet.
    /// - Parameters:
    ///   - always: Whether to read the challenges even if no event has reported one.
    ///   - concerned: Selects the challenges that concern the command.
    ///   - isAsked: Whether the server of the challenge is the server of a URL of the command. Servers to which
    ///     redirects lead get no credential that was given in advance.
    mutating func promptForNewChallenges(
        _ session: Session, of application: Application, always: Bool,
        concerned: () throws(CommandError) -> [Challenge], isAsked: (Challenge) throws(CommandError) -> Bool
    ) throws(CommandError) {
        hasNews = false
        guard isDue || always else { return }
        let name = context.sessionName
        let isAny = try application.run(.sessions).contains { $0.identifier == name && $0.openChallenges > 0 }
        open = isAny ? try concerned() : []
        // A challenge that concerns only other transfers may concern the command later.
        isDue = isAny
        for challenge in open {
            let report = ReportedChallenge(challenge: challenge.id, failures: challenge.failures)
            guard reported.insert(report).inserted else { continue }
            if let response = credentials.response(to: challenge), try isAsked(challenge),
                answered.insert([challenge.origin, challenge.realm ?? ""]).inserted
            {
                try respond(to: challenge, response, session)
                open.removeAll { $0.id == challenge.id }
                continue
            }
            let isOpen = { () throws(CommandError) in
                try concerned().contains { $0.id == challenge.id }
            }
            if try promptAndRespond(challenge, session, while: isOpen) { open.removeAll { $0.id == challenge.id } }
        }
    }

    /// Advice such as "Respond with: backhaul respond 3 --user NAME".
    var advice: String {
        guard let first = open.first else { return "" }
        return "Respond with: \(context.command("respond", "\(first.id)")) \(first.advice)"
    }

    /// - Parameter isOpen: Whether a transfer of the command still waits for the challenge.
    private func promptAndRespond(
        _ challenge: Challenge, _ session: Session, while isOpen: () throws(CommandError) -> Bool
    ) throws(CommandError) -> Bool {
        context.output.note(challenge.sentence + ".")
        guard let response = try promptForResponse(challenge, while: isOpen) else { return false }
        try respond(to: challenge, response, session)
        return true
    }

    private func respond(
        to challenge: Challenge, _ response: ChallengeResponse, _ session: Session
    ) throws(CommandError) {
        do {
            try session.run(.respond(challenge.id, response))
        } catch {
            // The challenge is not open any more, for example because another process has responded, or has removed the
            // session.
            guard error.isSessionGone else { throw error }
        }
    }

    /// Prompts the user. Returns nil if there is no terminal, if the user leaves the challenge open, or if a prompt
    /// cannot ask for this kind of response. Also returns nil if no transfer of the command waits any more, or if the
    /// deadline has passed.
    private func promptForResponse(
        _ challenge: Challenge, while isOpen: () throws(CommandError) -> Bool
    ) throws(CommandError) -> ChallengeResponse? {
        if let deadline, Clock.milliseconds >= deadline { return nil }
        guard context.output.progressTerminal != nil, let prompt = Prompt(until: deadline) else { return nil }
        defer { prompt.end() }
        if challenge.isRefresh {
            guard challenge.taskID != nil else { return nil }
            let url = try prompt.ask("URL (empty: leave it open): ", context.signals, while: isOpen) ?? ""
            return url.isEmpty ? nil : .url(url)
        }
        if challenge.takesPassword {
            let user = try prompt.ask("User (empty: leave it open): ", context.signals, while: isOpen) ?? ""
            if user.isEmpty { return nil }
            guard let password = try prompt.ask("Password: ", isSecret: true, context.signals, while: isOpen) else {
                return nil
            }
            return .credential(user: user, password: password)
        }
        guard challenge.takesToken else { return nil }
        let token =
            try prompt.ask("Token (empty: leave it open): ", isSecret: true, context.signals, while: isOpen) ?? ""
        if token.isEmpty { return nil }
        let field = challenge.isProxy ? "Proxy-Authorization" : "Authorization"
        return .headers([Header(name: field, value: "Bearer " + token)])
    }
}
