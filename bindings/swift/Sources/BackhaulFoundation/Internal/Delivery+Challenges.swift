internal import Backhaul
internal import Foundation
internal import FoundationNetworking

extension Delivery {
    /// Asks the delegate for a credential, in the name of a task that waits for it.
    func tell(_ challenge: Challenge, event: EventID?, _ opened: BlockingSession) throws(BackhaulError) {
        // A refresh is asked for by tasks that were made by other means, and is answered by those.
        guard challenge.kind != .refresh, let info = try waiting(for: challenge, opened).first else {
            // Nobody needs it any more.
            if let event { acknowledgeLater(event) }
            return
        }
        let identifier = taskIdentifier(key: info.idempotencyKey, id: info.id)
        let task = core.task(identifier, id: info.id, kind: info.kind, url: info.url) { $0.fill(info) }
        unanswered[challenge.id] = event
        let answer = Answer { [core] disposition, credential in
            let answer = ChallengeAnswer(
                challenge: challenge, response: Delivery.response(disposition, credential),
                cancelsTasks: disposition == .cancelAuthenticationChallenge)
            core.post { $0.answers.append(answer) }
        }
        let question = URLAuthenticationChallenge(
            protectionSpace: challenge.protectionSpace, proposedCredential: nil,
            previousFailureCount: challenge.failures, failureResponse: nil, error: nil, sender: answer)
        onQueue { [session, delegate] in
            if let delegate = delegate as? any BackgroundURLSessionTaskDelegate {
                delegate.urlSession(session, task: task, didReceive: question) { answer.give($0, $1) }
            } else {
                answer.give(.performDefaultHandling, nil)
            }
        }
    }

    private func waiting(for challenge: Challenge, _ opened: BlockingSession) throws(BackhaulError) -> [TaskInfo] {
        let waiting = try opened.tasks(.states([.waiting])).filter { $0.reason?.code == .credential }
        let own = waiting.filter { origin(of: $0.url) == challenge.origin }
        // A redirect or a proxy asks for another origin than the task's.
        return own.isEmpty ? waiting : own
    }

    /// Tells the engine what the delegate has answered. When that fails, it is told again later.
    func giveAnswers() throws(BackhaulError) {
        while let answer = answers.first {
            guard let event = unanswered[answer.challenge.id] else {
                answers.removeFirst()
                continue
            }
            do throws(BackhaulError) {
                try give(answer, try core.opened())
            } catch {
                guard error.status == .notFound else { throw error }
                // Not open any more: nothing is left to answer.
                if let event { acknowledgeLater(event) }
            }
            unanswered[answer.challenge.id] = nil
            answers.removeFirst()
        }
    }

    private func give(_ answer: ChallengeAnswer, _ opened: BlockingSession) throws(BackhaulError) {
        if answer.cancelsTasks {
            for info in try waiting(for: answer.challenge, opened) { try opened.cancel(info.id) }
        }
        do throws(BackhaulError) {
            try opened.respond(toChallenge: answer.challenge.id, with: answer.response)
        } catch {
            guard error.status == .invalidArgument else { throw error }
            // A credential for a scheme that has none.
            try opened.respond(toChallenge: answer.challenge.id, with: .refuse)
        }
    }

    private static func response(
        _ disposition: BackgroundURLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) -> ChallengeResponse {
        guard disposition == .useCredential, let credential else { return .refuse }
        if let credential = credential as? HeaderCredential {
            return .headers(credential.headers.sorted { $0.key < $1.key }.map { Header(name: $0.key, value: $0.value) })
        }
        guard let user = credential.user else { return .refuse }
        return .credential(user: user, password: credential.password ?? "")
    }
}

/// What the delegate has answered.
struct ChallengeAnswer: Sendable {
    let challenge: Challenge
    let response: ChallengeResponse
    let cancelsTasks: Bool
}

/// Takes one answer, and passes over any other.
private final class Answer: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    // Unchecked: the handler is behind a lock.
    typealias Handler = @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
    private let handler: Locked<Handler?>

    init(_ handler: @escaping Handler) { self.handler = Locked(handler) }

    func give(_ disposition: BackgroundURLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        let handler = handler.with { handler in
            defer { handler = nil }
            return handler
        }
        handler?(disposition, credential)
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        give(.useCredential, credential)
    }
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { give(.performDefaultHandling, nil) }
    func cancel(_ challenge: URLAuthenticationChallenge) { give(.cancelAuthenticationChallenge, nil) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { give(.performDefaultHandling, nil) }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        give(.rejectProtectionSpace, nil)
    }
}

extension Challenge {
    fileprivate var protectionSpace: URLProtectionSpace {
        let parts = URLComponents(string: origin)
        let (host, scheme) = (parts?.host ?? "", parts?.scheme ?? "http")
        let port = parts?.port ?? (scheme == "https" ? 443 : 80)
        if kind == .proxy {
            return URLProtectionSpace(
                proxyHost: host, port: port,
                type: scheme == "https" ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy, realm: realm,
                authenticationMethod: method)
        }
        return URLProtectionSpace(host: host, port: port, protocol: scheme, realm: realm, authenticationMethod: method)
    }

    private var method: String {
        if schemes.contains(.basic) { return NSURLAuthenticationMethodHTTPBasic }
        if schemes.contains(.digest) { return NSURLAuthenticationMethodHTTPDigest }
        if schemes.contains(.negotiate) { return NSURLAuthenticationMethodNegotiate }
        return NSURLAuthenticationMethodDefault
    }
}

/// "https://example.org:443"
private func origin(of url: String) -> String? {
    guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(), let host = parts.host else {
        return nil
    }
    return "\(scheme)://\(host.lowercased()):\(parts.port ?? (scheme == "https" ? 443 : 80))"
}
