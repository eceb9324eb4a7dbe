import Testing

@testable import BackhaulModel

@Suite("A session's credentials")
struct SessionCredentialsTests {
    private static let origin = "https://example.org:443"
    private let secret = ChallengeResponse.credential(user: "user", password: "open sesame")
    private var book = SessionCredentials()

    private func demand(
        _ realm: String? = "staff", url: String = "https://example.org/files/1", origin: String = Self.origin,
        proxy: String? = nil
    ) throws -> AuthenticationDemand {
        let field = realm.map { "Basic realm=\"\($0)\"" } ?? "Basic"
        return try #require(
            AuthenticationDemand(
                ResponseHead(
                    status: proxy == nil ? 401 : 407, finalURL: url, isHTTP2: false,
                    fields: [ResponseField(proxy == nil ? "WWW-Authenticate" : "Proxy-Authenticate", field)],
                    origin: origin, proxy: proxy)))
    }

    private func challenge(_ id: UInt64, _ demand: AuthenticationDemand, failures: UInt32 = 0) -> Challenge {
        Challenge(
            id: ChallengeID(rawValue: id), space: demand.space, schemes: demand.schemes, failures: failures,
            timeMilliseconds: 0, waitingTasks: 1)
    }

    /// Compares results of mutating calls, which the macro does not accept.
    private func expect<Value: Equatable>(_ value: Value, _ right: Value, location: SourceLocation = #_sourceLocation) {
        #expect(value == right, sourceLocation: location)
    }

    private mutating func verdict(
        _ demand: AuthenticationDemand, sent: UInt64?, in lane: String = Self.origin
    ) -> SessionCredentials.Verdict {
        book.verdict(on: demand.space, sent: Set([sent].compactMap(\.self)), in: lane)
    }

    /// Returns the open challenge that a task with this URL waits for.
    private func waits(for url: String, in lane: String, last: UInt64? = nil) -> ChallengeID? {
        guard case .open(let id) = book.wait(for: url, in: lane, last: last.map(ChallengeID.init)) else { return nil }
        return id
    }

    @Test("a lane is probed from the first challenge to the first success")
    mutating func probed() throws {
        let asked = try demand()
        #expect(!book.isProbed(Self.origin))
        book.met(asked, in: Self.origin)
        #expect(book.isProbed(Self.origin))
        expect(verdict(asked, sent: nil), .ask(failures: 0, replacing: nil))
        book.settled(asked.space, challenge: ChallengeID(rawValue: 1))
        #expect(book.isProbed(Self.origin))
        book.answered(challenge(1, asked), secret)
        #expect(book.isProbed(Self.origin))
        let answer = try #require(book.answer(server: Self.origin, url: "https://example.org/x"))
        #expect(answer.response == secret)
        expect(book.accepted([answer.number], in: Self.origin), true)
        #expect(!book.isProbed(Self.origin))
        expect(book.accepted([answer.number], in: Self.origin), false)
        #expect(!book.isProbed("https://other.org:443"))
    }

    @Test("a refused credential is dropped and counted once")
    mutating func dropped() throws {
        let asked = try demand()
        book.answered(challenge(1, asked), secret)
        let number = book.answer(server: Self.origin, url: "")?.number
        for _ in 0..<3 { book.met(asked, in: Self.origin) }
        let again = SessionCredentials.Verdict.ask(failures: 1, replacing: ChallengeID(rawValue: 1))
        expect(verdict(asked, sent: number), again)
        #expect(book.answer(server: Self.origin, url: "") == nil)
        expect(verdict(asked, sent: number), again)
        book.settled(asked.space, challenge: ChallengeID(rawValue: 2))
        expect(verdict(asked, sent: number), .ask(failures: 1, replacing: nil))
    }

    @Test("a request that was sent without the credential, or with an older one, is sent again")
    mutating func again() throws {
        let asked = try demand()
        book.met(asked, in: Self.origin)
        book.answered(challenge(1, asked), secret)
        let first = book.answer(server: Self.origin, url: "")?.number
        expect(verdict(asked, sent: nil), .again)
        book.answered(challenge(2, asked), secret)
        expect(verdict(asked, sent: first), .again)
    }

    @Test("a refusal also applies to requests that were in progress")
    mutating func refused() throws {
        let asked = try demand()
        for _ in 0..<2 { book.met(asked, in: Self.origin) }
        book.settled(asked.space, challenge: ChallengeID(rawValue: 1))
        book.refused(challenge(1, asked))
        expect(verdict(asked, sent: nil), .refused)
        book.settled(asked.space, challenge: nil)
        #expect(book.isEmpty)
        expect(verdict(asked, sent: nil), .ask(failures: 0, replacing: nil))
    }

    @Test("tasks in the directory of a challenge wait, and others are tried")
    mutating func scope() throws {
        let asked = try demand()
        book.met(asked, in: Self.origin)
        #expect(waits(for: "https://example.org/files/2", in: Self.origin) == nil)
        book.settled(asked.space, challenge: ChallengeID(rawValue: 1))
        let open = ChallengeID(rawValue: 1)
        #expect(waits(for: "https://example.org/files/2", in: Self.origin) == open)
        #expect(waits(for: "https://example.org/files/deep/2?x", in: Self.origin) == open)
        #expect(waits(for: "https://example.org/filesystem", in: Self.origin) == nil)
        #expect(waits(for: "https://example.org/public/2", in: Self.origin) == nil)
        #expect(waits(for: "https://other.org/files/2", in: "https://other.org:443") == nil)
        book.closed(open)
        #expect(book.isEmpty)
    }

    @Test("with several realms each task gets the credential of its directory, and others none")
    mutating func realms() throws {
        let staff = try demand()
        let board = try demand("board", url: "https://example.org/files/board/1")
        let other = ChallengeResponse.headers([HeaderField("Authorization", "Bearer x")])
        book.met(staff, in: Self.origin)
        book.answered(challenge(1, staff), secret)
        #expect(book.answer(server: Self.origin, url: "https://example.org/public")?.response == secret)
        book.met(board, in: Self.origin)
        book.answered(challenge(2, board), other)
        #expect(book.answer(server: Self.origin, url: "https://example.org/files/7")?.response == secret)
        #expect(book.answer(server: Self.origin, url: "https://example.org/files/board/7")?.response == other)
        #expect(book.answer(server: Self.origin, url: "https://example.org/public") == nil)
        #expect(book.answer(server: "http://example.org:80", url: "http://example.org/files/7") == nil)
        #expect(book.answer(proxy: Self.origin) == nil)
    }

    @Test("a proxy's credential is for that proxy, and its challenge for every lane that met it")
    mutating func proxies() throws {
        let asked = try demand(proxy: "http://proxy:3128")
        book.met(asked, in: Self.origin)
        book.settled(asked.space, challenge: ChallengeID(rawValue: 1))
        #expect(waits(for: "https://example.org/elsewhere", in: Self.origin)?.rawValue == 1)
        #expect(waits(for: "https://other.org/", in: "https://other.org:443") == nil)
        book.answered(challenge(1, asked), secret)
        #expect(book.answer(proxy: "http://proxy:3128")?.response == secret)
        #expect(book.answer(proxy: "http://proxy:3129") == nil)
        #expect(book.answer(server: Self.origin, url: "https://example.org/") == nil)
    }

    private let proxy = "http://proxy:3128"
    private let other = "http://other.org:80"

    /// Sets a proxy's credential that was accepted for one lane.
    private mutating func serve() throws -> (AuthenticationDemand, UInt64) {
        let asked = try demand(proxy: proxy)
        for lane in [Self.origin, other] { book.met(asked, in: lane) }
        for _ in 0..<2 { book.settled(asked.space, challenge: ChallengeID(rawValue: 1)) }
        book.answered(challenge(1, asked), secret)
        let number = try #require(book.answer(proxy: proxy)).number
        expect(book.accepted([number], in: Self.origin), true)
        return (asked, number)
    }

    @Test("a proxy's accepted credential is not dropped when one lane refuses it; that lane waits")
    mutating func disputed() throws {
        let (asked, number) = try serve()
        book.met(asked, in: other)
        expect(verdict(asked, sent: number, in: other), .ask(failures: 1, replacing: nil))
        book.settled(asked.space, challenge: ChallengeID(rawValue: 2))
        #expect(book.answer(proxy: proxy)?.number == number)
        #expect(waits(for: "http://other.org/", in: other)?.rawValue == 2)
        #expect(waits(for: "https://example.org/", in: Self.origin) == nil)
        #expect(!book.isProbed(Self.origin))
        #expect(book.isProbed(other))
        // Another lane refuses the credential, too: it joins the open challenge, and the failure counts once.
        book.met(asked, in: Self.origin)
        expect(verdict(asked, sent: number, in: Self.origin), .ask(failures: 1, replacing: nil))
        book.settled(asked.space, challenge: ChallengeID(rawValue: 2))
        #expect(waits(for: "https://example.org/", in: Self.origin)?.rawValue == 2)
    }

    @Test("a lane that refuses a good credential cannot drop the next one for others")
    mutating func contrary() throws {
        let (asked, first) = try serve()
        book.met(asked, in: other)
        expect(verdict(asked, sent: first, in: other), .ask(failures: 1, replacing: nil))
        book.settled(asked.space, challenge: ChallengeID(rawValue: 2))
        expect(book.accepted([first], in: Self.origin), false)
        book.answered(challenge(2, asked, failures: 1), secret)
        let second = try #require(book.answer(proxy: proxy)).number
        book.met(asked, in: other)
        expect(verdict(asked, sent: second, in: other), .ask(failures: 2, replacing: nil))
        book.settled(asked.space, challenge: ChallengeID(rawValue: 3))
        #expect(book.answer(proxy: proxy)?.number == second)
        #expect(waits(for: "https://example.org/", in: Self.origin) == nil)
        // A lane that has refused no credential before can drop it.
        book.met(asked, in: Self.origin)
        expect(verdict(asked, sent: second), .ask(failures: 2, replacing: ChallengeID(rawValue: 2)))
        #expect(book.answer(proxy: proxy) == nil)
    }

    @Test("a credential that is requested again after another realm's counts as refused")
    mutating func alternating() throws {
        let (staff, board) = (try demand(), try demand("board"))
        for (id, asked) in [(UInt64(1), staff), (2, board)] {
            book.met(asked, in: Self.origin)
            book.answered(challenge(id, asked), secret)
            book.settled(asked.space, challenge: nil)
        }
        expect(book.verdict(on: staff.space, sent: [2], in: Self.origin), .again)
        expect(
            book.verdict(on: staff.space, sent: [1, 2], in: Self.origin),
            .ask(failures: 1, replacing: ChallengeID(rawValue: 1)))
    }

    @Test("a lane that was redirected to the challenging server is probed like that server's lane")
    mutating func redirected() throws {
        book.met(try demand(), in: "https://front.org:443")
        #expect(book.isProbed("https://front.org:443"))
        #expect(book.isProbed(Self.origin))
    }

    @Test("the number of challenges of a server is limited")
    mutating func invented() throws {
        for number in 0..<SessionCredentials.challengeLimit {
            let asked = try demand("realm \(number)")
            #expect(book.mayOpen(asked.space))
            book.met(asked, in: Self.origin)
            book.settled(asked.space, challenge: ChallengeID(rawValue: UInt64(number + 1)))
        }
        #expect(!book.mayOpen(try demand("one more").space))
        #expect(book.mayOpen(try demand("realm 3").space))
        #expect(book.mayOpen(try demand("one more", origin: "https://other.org:443").space))
    }

    @Test("no description contains a credential")
    mutating func silent() throws {
        let asked = try demand()
        book.answered(challenge(1, asked), secret)
        var dumped = ""
        dump(book, to: &dumped)
        let answer = book.answer(server: Self.origin, url: "")
        dump(answer, to: &dumped)
        for text in [dumped, "\(book)", String(reflecting: book), "\(String(describing: answer))"] {
            #expect(!text.contains("sesame"))
            #expect(!text.contains("\"user\""))
        }
    }
}
