import BackhaulModel
import Testing

@Suite("The checks of answers to challenges")
struct ResponseCheckTests {
    private func failure(_ response: ChallengeResponse) -> Failure? {
        do throws(Failure) {
            try ResponseCheck.check(response)
            return nil
        } catch { return error }
    }

    private func failure(
        _ response: ChallengeResponse, for kind: ProtectionSpace.Kind, _ schemes: AuthenticationSchemes
    ) -> Failure? {
        let challenge = Challenge(
            id: ChallengeID(rawValue: 1), space: ProtectionSpace(kind: kind, origin: "https://a:443", realm: nil),
            schemes: schemes, failures: 0, timeMilliseconds: 0, waitingTasks: 1)
        do throws(Failure) {
            try ResponseCheck.check(response, for: challenge)
            return nil
        } catch { return error }
    }

    @Test("A user name has no colon, neither has a control character, and no message repeats them")
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

    @Test("Headers cannot break the request, and no message repeats their values")
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

    @Test("A credential is refused where Basic is not offered, by the names of what is")
    func offered() {
        let credential = ChallengeResponse.credential(user: "u", password: "secret")
        #expect(failure(credential, for: .server, [.digest, .basic]) == nil)
        let failure = failure(credential, for: .server, [.bearer, .digest])
        #expect(failure?.message.contains("Bearer, Digest") == true)
        #expect(failure?.message.contains("secret") == false)
    }

    @Test("What identifies the host to a proxy is not sent to a server")
    func proxies() {
        let headers = ChallengeResponse.headers([HeaderField("Proxy-Authorization", "Basic x")])
        #expect(failure(headers, for: .proxy, .basic) == nil)
        #expect(failure(headers, for: .server, .basic)?.status == .invalidArgument)
    }

    @Test("What identifies the host to a server is not sent to a proxy, which would pass it on")
    func servers() {
        let headers = ChallengeResponse.headers([HeaderField("authorization", "Basic secret")])
        #expect(failure(headers, for: .server, .basic) == nil)
        let failure = failure(headers, for: .proxy, .basic)
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("Proxy-Authorization") == true)
        #expect(failure?.message.contains("secret") == false)
    }
}
