internal import Backhaul
internal import Foundation
internal import FoundationNetworking

extension Delivery {
    /// Calls the delegate for a challenge, which is a demand for a credential. The task in the call is one of the tasks
    /// that wait for the challenge.
    func deliver(_ challenge: Challenge, event: EventID?, _ opened: BlockingSession) throws(BackhaulError) {
        // A challenge of the kind `.refresh` demands new headers or a new URL. Tasks of this module never cause such a
        // challenge. It belongs to a task of another API of the library, and this other API must respond.
        guard challenge.kind != .refresh, let info = try waiting(for: challenge, opened).first else {
            // The delegate is not called for a refresh, or if no task waits for the challenge any more.
            if let event { acknowledgeLater(event) }
            return
        }
        let identifier = taskIdentifier(key: info.idempotencyKey, id: info.id)
        waitForProgram(identifier)
        let task = core.task(identifier, id: info.id, kind: info.kind, url: info.url) { $0.fill(info) }
        openChallenges[challenge.id] = event
        let sender = ResponseSender { [core] disposition, credential in
            let response = PendingResponse(
                challenge: challenge, response: Delivery.response(disposition, credential),
                cancelsTasks: disposition == .cancelAuthenticationChallenge)
            core.post { $0.responses.append(response) }
        }
        let question = URLAuthenticationChallenge(
            protectionSpace: challenge.protectionSpace, proposedCredential: nil,
            previousFailureCount: challenge.failures, failureResponse: nil, error: nil, sender: sender)
        onQueue { [session, delegate] in
            if let delegate = delegate as? any BackgroundURLSessionTaskDelegate {
                delegate.urlSession(session, task: task, didReceive: question) { sender.give($0, $1) }
            } else {
                sender.give(.performDefaultHandling, nil)
            }
        }
    }

    private func waitingTasks(_ opened: BlockingSession) throws(BackhaulError) -> [TaskInfo] {
        try opened.tasks(.states([.waiting])).filter { $0.reason?.code == .credential }
    }

    private func waiting(for challenge: Challenge, _ opened: BlockingSession) throws(BackhaulError) -> [TaskInfo] {
        let waiting = try waitingTasks(opened)
        let own = waiting.filter { origin(of: $0.url) == challenge.origin }
        // If the challenge is from a proxy, or if a redirect led to another server, no task's URL has the challenge's
        // origin. Then the result is all tasks that wait for any credential.
        return own.isEmpty ? waiting : own
    }

    /// Passes the delegate's responses to the engine, which performs the transfers. If the engine does not get a
    /// response because of an error, the response stays in the list and is passed later.
    func sendResponses() throws(BackhaulError) {
        while let response = responses.first {
            guard let event = openChallenges[response.challenge.id] else {
                responses.removeFirst()
                continue
            }
            do throws(BackhaulError) {
                try send(response, try core.opened())
            } catch {
                guard error.status == .notFound else { throw error }
                // The challenge is no longer open, so no response is needed.
                if let event { acknowledgeLater(event) }
            }
            openChallenges[response.challenge.id] = nil
            responses.removeFirst()
        }
    }

    private func send(_ pending: PendingResponse, _ opened: BlockingSession) throws(BackhaulError) {
        let waiting = pending.cancelsTasks ? Set(try waitingTasks(opened).map(\.id)) : []
        do throws(BackhaulError) {
            try opened.run(.respond(pending.challenge.id, pending.response))
        } catch {
            guard error.status == .invalidArgument else { throw error }
            // The credential does not fit the challenge's schemes.
            try opened.run(.respond(pending.challenge.id, .refuse))
        }
        guard !waiting.isEmpty else { return }
        // The refusal ends exactly the tasks of this challenge. A listing does not show for which challenge a task
        // waits, so the tasks are found by their end.
        let failed = try opened.tasks(.states([.failed])).filter { $0.error?.status == .authenticationRequired }
        cancelledTasks.formUnion(waiting.intersection(failed.map(\.id)))
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

/// A challenge, and the delegate's response to it.
struct PendingResponse: Sendable {
    let challenge: Challenge
    let response: ChallengeResponse
    let cancelsTasks: Bool
}

/// Accepts the first response of the delegate to a challenge, and ignores further ones.
private final class ResponseSender: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    // Unchecked: the handler is protected by a mutex.
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

/// The origin of a URL, in the form of `Challenge.origin`, such as "https://example.org:443".
private func origin(of url: String) -> String? {
    guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(), let host = parts.host else {
        return nil
    }
    return "\(scheme)://\(host.lowercased()):\(parts.port ?? (scheme == "https" ? 443 : 80))"
}
