import BackhaulModel
import Testing

/// The program that uses the library responds to challenges. `ResponseCheck` refuses invalid responses of this program.
@Suite("The checks of responses to challenges")
struct ResponseCheckTests {
    private func failure(_ response: ChallengeResponse) -> Failure? {
        do throws(Failure) {
            try ResponseCheck.check(response)
            return nil
        } catch { return error }
    }

    private func failure(
        _ response: ChallengeResponse, for kind: ProtectionSpace.Kind, _ schemes: AuthenticationSchemes,
        task: TaskID? = nil
    ) -> Failure? {
        let challenge = Challenge(
            id: ChallengeID(rawValue: 1),
            space: ProtectionSpace(kind: kind, origin: "https://a:443", realm: nil, task: task),
            schemes: schemes, failures: 0, timeMilliseconds: 0, waitingTasks: 1)
        do throws(Failure) {
            try ResponseCheck.check(response, for: challenge)
            return nil
        } catch { return error }
    }

    @Test("Invalid user names and passwords are refused, and no message repeats them")
    func credentials() {
        let long = String(repeating: "s", count: 4_097)
        #expect(failure(.refuse) == nil)
        #expect(failure(.credential(user: "jörg", password: "")) == nil)
        for (user, password) in [
            ("", "secret"), ("se:cret", "x"), ("a", "secret\n"), ("secret\u{0}", "x"), (long, "x"), ("x", long),
        ] {
            let failure = failure(.credential(user: user, password: password))
            #expect(failure?.status == .invalidArgument)
            #expect(failure?.message.contains("secret") == false)
        }
    }

    @Test("Invalid headers are refused, and no message repeats their values")
    func headers() {
        #expect(failure(.headers([HeaderField("Authorization", "Bearer secret")])) == nil)
        for headers in [
            [], [HeaderField("Range", "secret")], [HeaderField("A", "secret\r\nB: c")], [HeaderField("", "secret")],
        ] {
            let failure = failure(.headers(headers))
            #expect(failure?.status == .invalidArgument)
            #expect(failure?.message.contains("secret") == false)
        }
    }

    @Test("If Basic and Digest are not offered, a user name is refused, and the message names the offered schemes")
    func offered() {
        let credential = ChallengeResponse.credential(user: "u", password: "secret")
        for schemes: AuthenticationSchemes in [.basic, .digest, [.digest, .basic, .bearer]] {
            #expect(failure(credential, for: .server, schemes) == nil)
        }
        let failure = failure(credential, for: .server, [.bearer, .negotiate])
        #expect(failure?.message.contains("Bearer, Negotiate") == true)
        #expect(failure?.message.contains("secret") == false)
    }

    @Test("If Negotiate is offered, an empty user name and password select the user's Kerberos ticket")
    func tickets() {
        let ticket = ChallengeResponse.credential(user: "", password: "")
        #expect(failure(ticket) == nil)
        #expect(failure(ticket, for: .server, [.negotiate, .basic]) == nil)
        #expect(failure(ticket, for: .server, .basic)?.message.contains("Negotiate") == true)
    }

    @Test("Each refresh accepts headers, and only a refresh of a URL accepts a URL")
    func refreshes() {
        let url = ChallengeResponse.url("https://a/b")
        let headers = ChallengeResponse.headers([HeaderField("Authorization", "Bearer secret")])
        #expect(failure(headers, for: .refresh, []) == nil)
        #expect(failure(url, for: .refresh, [])?.status == .invalidArgument)
        #expect(failure(url, for: .refresh, [], task: TaskID(rawValue: 1)) == nil)
        #expect(failure(url, for: .server, .basic)?.status == .invalidArgument)
        for response: ChallengeResponse in [.refuse, .standard] {
            #expect(failure(response, for: .refresh, []) == nil)
            #expect(failure(response, for: .server, .basic) == nil)
        }
        let credential = ChallengeResponse.credential(user: "u", password: "secret")
        #expect(failure(credential, for: .refresh, [])?.message.contains("headers") == true)
        let reserved = ChallengeResponse.headers([HeaderField("Proxy-Authorization", "Basic x")])
        #expect(failure(reserved, for: .refresh, [])?.status == .invalidArgument)
    }

    @Test("An expired response to a challenge is refused, and a response that has no credential cannot be stored")
    func lives() {
        let headers = ChallengeResponse.headers([HeaderField("Authorization", "Bearer secret")])
        func failure(_ response: ChallengeResponse, _ life: CredentialLifetime) -> Failure? {
            do throws(Failure) {
                try ResponseCheck.check(response, life, now: 1_000)
                return nil
            } catch { return error }
        }
        #expect(failure(headers, CredentialLifetime(expiresMilliseconds: 1_001, isKept: true)) == nil)
        #expect(failure(headers, CredentialLifetime(expiresMilliseconds: 1_000))?.status == .invalidArgument)
        #expect(failure(headers, CredentialLifetime(expiresMilliseconds: -5))?.status == .invalidArgument)
        #expect(failure(.standard, CredentialLifetime(isKept: true))?.status == .invalidArgument)
        #expect(failure(.url("https://a/ b"), CredentialLifetime())?.status == .invalidArgument)
    }

    @Test("The header Proxy-Authorization is refused for a challenge of a server")
    func proxies() {
        let headers = ChallengeResponse.headers([HeaderField("Proxy-Authorization", "Basic x")])
        #expect(failure(headers, for: .proxy, .basic) == nil)
        #expect(failure(headers, for: .server, .basic)?.status == .invalidArgument)
    }

    @Test("The header Authorization is refused for a challenge of a proxy, because the proxy would forward it")
    func servers() {
        let headers = ChallengeResponse.headers([HeaderField("authorization", "Basic secret")])
        #expect(failure(headers, for: .server, .basic) == nil)
        let failure = failure(headers, for: .proxy, .basic)
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("Proxy-Authorization") == true)
        #expect(failure?.message.contains("secret") == false)
    }
}
