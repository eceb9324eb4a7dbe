/// Checks of a host's response to a challenge. A *challenge* demands a credential, new headers or a new URL from the
/// host. No message repeats the text of the response, which may be a secret.
public enum ResponseCheck {
    /// Checks the form of the response, and throws if the response has expired. `now`: the present time in Unix
    /// milliseconds. If it is 0, an expired response passes the check.
    public static func check(
        _ response: ChallengeResponse, _ life: CredentialLifetime = CredentialLifetime(), now: Int64 = 0
    ) throws(Failure) {
        if let expires = life.expiresMilliseconds {
            try FieldCheck.time(expires, "response.expires_ms")
            // If the engine accepted an expired response, it would open a new challenge at once, and this would repeat
            // without end.
            guard expires > now else {
                throw invalid("response.expires_ms is \(expires), which has passed; give a later time")
            }
        }
        switch response {
        case .refuse, .standard:
            guard !life.isKept else { throw invalid("only credentials and headers are kept in the store") }
        case .url(let url):
            guard url.utf8.count <= Limits.urlSize, url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
                throw invalid("response.url has a blank, a control character or more than \(Limits.urlSize) bytes")
            }
        case .credential(let user, let password):
            guard user.utf8.count <= Limits.credentialSize, password.utf8.count <= Limits.credentialSize else {
                throw invalid("the user name or the password has more than \(Limits.credentialSize) bytes")
            }
            guard !user.isEmpty || password.isEmpty else {
                throw invalid("the user name is empty; leave the password empty, too, to use your Kerberos login")
            }
            // A colon ends the user name (RFC 7617, section 2).
            guard !user.utf8.contains(UInt8(ascii: ":")) else { throw invalid("the user name contains a colon") }
            guard user.utf8.allSatisfy(\.isText), password.utf8.allSatisfy(\.isText) else {
                throw invalid("the user name or the password has a control character (RFC 7617, section 2)")
            }
        case .headers(let headers):
            guard !headers.isEmpty else { throw invalid("the response has no headers; refuse instead") }
            try RequestCheck.checkHeaders(headers, reserved: reserved)
        }
    }

    /// Checks whether the response fits the challenge.
    public static func check(_ response: ChallengeResponse, for challenge: Challenge) throws(Failure) {
        switch (response, challenge.space.kind) {
        case (.headers(let headers), .server), (.headers(let headers), .refresh):
            try RequestCheck.checkHeaders(headers)
        // Without a tunnel, a proxy must forward Authorization to the server (RFC 9110, section 11.6.2). So this field
        // cannot be a credential for the proxy.
        case (.headers(let headers), .proxy) where headers.contains { $0.name.lowercased() == "authorization" }:
            throw invalid(
                "Authorization is for servers, and \(challenge.space.origin) is a proxy; "
                    + "name the header Proxy-Authorization")
        case (.credential, .refresh):
            let what = challenge.space.task == nil ? "headers" : "a URL or headers"
            throw invalid("a refresh takes \(what), not a user name and password")
        case (.credential(let user, let password), _):
            try check(user.isEmpty && password.isEmpty ? .negotiate : [.digest, .basic], for: challenge)
        case (.url, _) where challenge.space.task == nil:
            throw invalid("only a refresh of one task's URL takes a URL; respond with headers, or refuse")
        case (.url(let url), _) where challenge.url?.isEncryptedURL == true && !url.isEncryptedURL:
            throw invalid("the task's URL is an https one, and the new one is not; give an https URL")
        default: break
        }
    }

    private static func check(_ usable: AuthenticationSchemes, for challenge: Challenge) throws(Failure) {
        guard challenge.schemes.isDisjoint(with: usable) else { return }
        let what =
            usable == .negotiate
            ? "an empty user name and password stand for your Kerberos login, which is used"
            : "a user name and password are sent"
        throw invalid(
            "\(what) with \(usable.names), and \(challenge.space.origin) offers \(challenge.schemes.names); "
                + "respond with headers, or refuse")
    }

    /// A host may set Proxy-Authorization only in a response to a challenge, not in a request.
    private static let reserved = RequestCheck.reserved.subtracting(["proxy-authorization"])

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
