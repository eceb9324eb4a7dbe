import Testing

@testable import BackhaulModel

/// A challenge is *open* until the host gives the credential or refuses the challenge. If a *server* refuses a
/// credential, the server sends the challenge again.
@Suite("A session's credentials")
struct SessionCredentialsTests {
    private static let origin = "https://example.org:443"
    private let secret = ChallengeResponse.credential(user: "user", password: "open sesame")
    private var credentials = SessionCredentials()

    private func authChallenge(
        _ realm: String? = "staff", url: String = "https://example.org/files/1", origin: String = Self.origin,
        proxy: String? = nil
    ) throws -> AuthenticationChallenge {
        let field = realm.map { "Basic realm=\"\($0)\"" } ?? "Basic"
        return try #require(
            AuthenticationChallenge(
                ResponseHead(
                    status: proxy == nil ? 401 : 407, finalURL: url, isMultiplexed: false,
                    fields: [ResponseField(proxy == nil ? "WWW-Authenticate" : "Proxy-Authenticate", field)],
                    origin: origin, proxy: proxy)))
    }

    private func challenge(_ id: UInt64, _ authChallenge: AuthenticationChallenge, failures: UInt32 = 0) -> Challenge {
        Challenge(
            id: ChallengeID(rawValue: id), space: authChallenge.space, schemes: authChallenge.schemes,
            failures: failures,
            timeMilliseconds: 0, waitingTasks: 1)
    }

    /// Compares two values. The macro `#expect` does not accept calls of mutating functions.
    private func expect<Value: Equatable>(_ value: Value, _ right: Value, location: SourceLocation = #_sourceLocation) {
        #expect(value == right, sourceLocation: location)
    }

    private mutating func decision(
        _ authChallenge: AuthenticationChallenge, sent: UInt64?, in lane: String = Self.origin
    ) -> SessionCredentials.Decision {
        credentials.decision(on: authChallenge.space, sent: Set([sent].compactMap(\.self)), in: lane)
    }

    /// Returns the open challenge that a task with this URL waits for.
    private func waits(for url: String, in lane: String, last: UInt64? = nil) -> ChallengeID? {
        guard case .open(let id) = credentials.wait(for: url, in: lane, last: last.map(ChallengeID.init)) else {
            return nil
        }
        return id
    }

    @Test("from its first challenge until the server accepts a credential, a lane runs one task at a time")
    mutating func runsOneTask() throws {
        let asked = try authChallenge()
        #expect(!credentials.runsOneTask(Self.origin))
        credentials.noteChallenge(asked, in: Self.origin)
        #expect(credentials.runsOneTask(Self.origin))
        expect(decision(asked, sent: nil), .openChallenge(failures: 0, replacing: nil))
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 1))
        #expect(credentials.runsOneTask(Self.origin))
        credentials.storeResponse(challenge(1, asked), secret)
        #expect(credentials.runsOneTask(Self.origin))
        let credential = try #require(credentials.credential(server: Self.origin, url: "https://example.org/files/1"))
        #expect(credential.response == secret)
        expect(credentials.accepted([credential.number], in: Self.origin), true)
        #expect(!credentials.runsOneTask(Self.origin))
        expect(credentials.accepted([credential.number], in: Self.origin), false)
        #expect(!credentials.runsOneTask("https://other.org:443"))
    }

    @Test("a credential that the server refuses is dropped, and several refusals of it count as one failure")
    mutating func dropped() throws {
        let asked = try authChallenge()
        credentials.storeResponse(challenge(1, asked), secret)
        let number = credentials.credential(server: Self.origin, url: "")?.number
        for _ in 0..<3 { credentials.noteChallenge(asked, in: Self.origin) }
        let again = SessionCredentials.Decision.openChallenge(failures: 1, replacing: ChallengeID(rawValue: 1))
        expect(decision(asked, sent: number), again)
        #expect(credentials.credential(server: Self.origin, url: "") == nil)
        expect(decision(asked, sent: number), again)
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 2))
        expect(decision(asked, sent: number), .openChallenge(failures: 1, replacing: nil))
    }

    @Test("a request that was sent without the credential, or with an older credential, is sent again")
    mutating func again() throws {
        let asked = try authChallenge()
        credentials.noteChallenge(asked, in: Self.origin)
        credentials.storeResponse(challenge(1, asked), secret)
        let first = credentials.credential(server: Self.origin, url: "https://example.org/files/1")?.number
        expect(decision(asked, sent: nil), .resend)
        credentials.storeResponse(challenge(2, asked), secret)
        expect(decision(asked, sent: first), .resend)
    }

    @Test("if the host refuses a challenge, the refusal also applies to requests that were in progress")
    mutating func refused() throws {
        let asked = try authChallenge()
        for _ in 0..<2 { credentials.noteChallenge(asked, in: Self.origin) }
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 1))
        credentials.refused(challenge(1, asked))
        expect(decision(asked, sent: nil), .refused)
        credentials.commitChallenge(asked.space, challenge: nil)
        #expect(credentials.isEmpty)
        expect(decision(asked, sent: nil), .openChallenge(failures: 0, replacing: nil))
    }

    @Test("while a URL has an open challenge, tasks with URLs in the same directory wait, and other tasks may run")
    mutating func scope() throws {
        let asked = try authChallenge()
        credentials.noteChallenge(asked, in: Self.origin)
        #expect(waits(for: "https://example.org/files/2", in: Self.origin) == nil)
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 1))
        let open = ChallengeID(rawValue: 1)
        #expect(waits(for: "https://example.org/files/2", in: Self.origin) == open)
        #expect(waits(for: "https://example.org/files/deep/2?x", in: Self.origin) == open)
        #expect(waits(for: "https://example.org/filesystem", in: Self.origin) == nil)
        #expect(waits(for: "https://example.org/public/2", in: Self.origin) == nil)
        #expect(waits(for: "https://other.org/files/2", in: "https://other.org:443") == nil)
        credentials.closed(open)
        #expect(credentials.isEmpty)
    }

    @Test("until a credential has worked, it is sent only to the directories that demanded it")
    mutating func unproven() throws {
        let asked = try authChallenge()
        credentials.noteChallenge(asked, in: Self.origin)
        credentials.storeResponse(challenge(1, asked), secret)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/files/7")?.response == secret)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/public") == nil)
        expect(credentials.accepted([1], in: Self.origin), true)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/public")?.response == secret)
    }

    @Test("if a server has several realms, the directory of a task's URL decides which credential the task gets")
    mutating func realms() throws {
        let staff = try authChallenge()
        let board = try authChallenge("board", url: "https://example.org/files/board/1")
        let other = ChallengeResponse.headers([HeaderField("Authorization", "Bearer x")])
        credentials.noteChallenge(staff, in: Self.origin)
        credentials.storeResponse(challenge(1, staff), secret)
        expect(credentials.accepted([1], in: Self.origin), true)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/public")?.response == secret)
        credentials.noteChallenge(board, in: Self.origin)
        credentials.storeResponse(challenge(2, board), other)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/files/7")?.response == secret)
        #expect(
            credentials.credential(server: Self.origin, url: "https://example.org/files/board/7")?.response == other)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/public") == nil)
        #expect(credentials.credential(server: "http://example.org:80", url: "http://example.org/files/7") == nil)
        #expect(credentials.credential(proxy: Self.origin) == nil)
    }

    @Test("if a realm of two has too many directories, the oldest one is forgotten")
    mutating func manyDirectories() throws {
        let board = try authChallenge("board", url: "https://example.org/board/1")
        credentials.noteChallenge(board, in: Self.origin)
        credentials.storeResponse(challenge(1, board), secret)
        for number in 0...64 {
            let staff = try authChallenge(url: "https://example.org/\(number)/1")
            credentials.noteChallenge(staff, in: Self.origin)
            credentials.storeResponse(challenge(2, staff), secret)
        }
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/0/2") == nil)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/64/2")?.number == 2)
    }

    @Test("a proxy's credential is sent only to this proxy, and a proxy's challenge applies only to lanes that got it")
    mutating func proxies() throws {
        let asked = try authChallenge(proxy: "http://proxy:3128")
        credentials.noteChallenge(asked, in: Self.origin)
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 1))
        #expect(waits(for: "https://example.org/elsewhere", in: Self.origin)?.rawValue == 1)
        #expect(waits(for: "https://other.org/", in: "https://other.org:443") == nil)
        credentials.storeResponse(challenge(1, asked), secret)
        #expect(credentials.credential(proxy: "http://proxy:3128")?.response == secret)
        #expect(credentials.credential(proxy: "http://proxy:3129") == nil)
        #expect(credentials.credential(server: Self.origin, url: "https://example.org/") == nil)
    }

    @Test("if a proxy has several realms, the credential of the newest challenge is sent")
    mutating func realmsOfProxy() throws {
        for number in UInt64(1)...9 {
            credentials.storeResponse(challenge(number, try authChallenge("realm \(number)", proxy: proxy)), secret)
            #expect(credentials.credential(proxy: proxy)?.number == number)
        }
    }

    private let proxy = "http://proxy:3128"
    private let other = "http://other.org:80"

    /// Stores a credential that the proxy has accepted in one lane. Returns the challenge and the credential's number.
    private mutating func serve() throws -> (AuthenticationChallenge, UInt64) {
        let asked = try authChallenge(proxy: proxy)
        for lane in [Self.origin, other] { credentials.noteChallenge(asked, in: lane) }
        for _ in 0..<2 { credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 1)) }
        credentials.storeResponse(challenge(1, asked), secret)
        let number = try #require(credentials.credential(proxy: proxy)).number
        expect(credentials.accepted([number], in: Self.origin), true)
        return (asked, number)
    }

    @Test("if a proxy accepts a credential in lane A and refuses it in lane B, only lane B waits")
    mutating func disputed() throws {
        let (asked, number) = try serve()
        credentials.noteChallenge(asked, in: other)
        expect(decision(asked, sent: number, in: other), .openChallenge(failures: 1, replacing: nil))
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 2))
        #expect(credentials.credential(proxy: proxy)?.number == number)
        #expect(waits(for: "http://other.org/", in: other)?.rawValue == 2)
        #expect(waits(for: "https://example.org/", in: Self.origin) == nil)
        #expect(!credentials.runsOneTask(Self.origin))
        #expect(credentials.runsOneTask(other))
        // Now the proxy refuses the credential in the first lane, too. This lane joins the open challenge, and the two
        // refusals count as one failure.
        credentials.noteChallenge(asked, in: Self.origin)
        expect(decision(asked, sent: number, in: Self.origin), .openChallenge(failures: 1, replacing: nil))
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 2))
        #expect(waits(for: "https://example.org/", in: Self.origin)?.rawValue == 2)
    }

    @Test("if a proxy refuses two credentials in a row in lane B, tasks of lane A do not wait, and use the second one")
    mutating func contrary() throws {
        let (asked, first) = try serve()
        credentials.noteChallenge(asked, in: other)
        expect(decision(asked, sent: first, in: other), .openChallenge(failures: 1, replacing: nil))
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 2))
        expect(credentials.accepted([first], in: Self.origin), false)
        credentials.storeResponse(challenge(2, asked, failures: 1), secret)
        let second = try #require(credentials.credential(proxy: proxy)).number
        credentials.noteChallenge(asked, in: other)
        expect(decision(asked, sent: second, in: other), .openChallenge(failures: 2, replacing: nil))
        credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: 3))
        #expect(credentials.credential(proxy: proxy)?.number == second)
        #expect(waits(for: "https://example.org/", in: Self.origin) == nil)
        // Now the proxy refuses the second credential in lane A, too. This is the first refusal in lane A, and the
        // proxy has accepted this credential in no lane. So the credential is dropped.
        credentials.noteChallenge(asked, in: Self.origin)
        expect(decision(asked, sent: second), .openChallenge(failures: 2, replacing: ChallengeID(rawValue: 2)))
        #expect(credentials.credential(proxy: proxy) == nil)
    }

    @Test("if a server demands A's credential after a request with the credentials for A and B, A's counts as refused")
    mutating func alternating() throws {
        let (staff, board) = (try authChallenge(), try authChallenge("board"))
        for (id, asked) in [(UInt64(1), staff), (2, board)] {
            credentials.noteChallenge(asked, in: Self.origin)
            credentials.storeResponse(challenge(id, asked), secret)
            credentials.commitChallenge(asked.space, challenge: nil)
        }
        expect(credentials.decision(on: staff.space, sent: [2], in: Self.origin), .resend)
        expect(
            credentials.decision(on: staff.space, sent: [1, 2], in: Self.origin),
            .openChallenge(failures: 1, replacing: ChallengeID(rawValue: 1)))
    }

    @Test("if the realm of each response differs, failures count the sent credentials, and at the limit the task fails")
    mutating func newRealms() throws {
        var sent: Set<UInt64> = []
        for number in 1...UInt64(SessionCredentials.rejectionLimit) {
            let asked = try authChallenge("realm \(number)")
            credentials.noteChallenge(asked, in: Self.origin)
            expect(
                credentials.decision(on: asked.space, sent: sent, in: Self.origin),
                .openChallenge(failures: UInt32(max(0, sent.count - 1)), replacing: nil))
            credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: number))
            credentials.storeResponse(challenge(number, asked, failures: UInt32(max(0, sent.count - 1))), secret)
            sent.insert(number)
        }
        let last = try authChallenge("the last realm")
        credentials.noteChallenge(last, in: Self.origin)
        expect(credentials.decision(on: last.space, sent: sent, in: Self.origin), .refused)
    }

    @Test("of a server that invents realms, only the newest credentials are kept")
    mutating func inventedRealms() throws {
        let other = try authChallenge("other", origin: other)
        credentials.storeResponse(challenge(1, other), secret)
        for number in 2..<UInt64(SessionCredentials.credentialLimit + 4) {
            credentials.storeResponse(challenge(number, try authChallenge("realm \(number)")), secret)
        }
        #expect(!credentials.knows(try authChallenge("realm 3").space))
        #expect(credentials.knows(try authChallenge("realm 4").space))
        #expect(credentials.knows(other.space))
    }

    @Test("if a redirect leads to a challenge, the lanes of both servers run one task at a time")
    mutating func redirected() throws {
        credentials.noteChallenge(try authChallenge(), in: "https://front.org:443")
        #expect(credentials.runsOneTask("https://front.org:443"))
        #expect(credentials.runsOneTask(Self.origin))
    }

    @Test("the number of challenges of a server is limited")
    mutating func invented() throws {
        for number in 0..<SessionCredentials.challengeLimit {
            let asked = try authChallenge("realm \(number)")
            #expect(credentials.mayOpen(asked.space))
            credentials.noteChallenge(asked, in: Self.origin)
            credentials.commitChallenge(asked.space, challenge: ChallengeID(rawValue: UInt64(number + 1)))
        }
        #expect(!credentials.mayOpen(try authChallenge("one more").space))
        #expect(credentials.mayOpen(try authChallenge("realm 3").space))
        #expect(credentials.mayOpen(try authChallenge("one more", origin: "https://other.org:443").space))
    }

    @Test("no description of a session's credentials contains a secret")
    mutating func silent() throws {
        let asked = try authChallenge()
        credentials.storeResponse(challenge(1, asked), secret)
        var dumped = ""
        dump(credentials, to: &dumped)
        let credential = credentials.credential(server: Self.origin, url: "")
        dump(credential, to: &dumped)
        for text in [dumped, "\(credentials)", String(reflecting: credentials), "\(String(describing: credential))"] {
            #expect(!text.contains("sesame"))
            #expect(!text.contains("\"user\""))
        }
    }
}
