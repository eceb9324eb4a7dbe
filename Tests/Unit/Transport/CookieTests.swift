import BackhaulModel
import Testing

@testable import BackhaulTransport

/// A *cookie jar* stores the cookies that servers have set.
@Suite("Cookies")
struct CookieTests {
    /// Returns a closure for a server. `cookies` maps paths to cookies, and the server sets the cookies of the
    /// requested path. The body of each response has the Cookie fields of the request.
    private static func server(_ cookies: [String: [String]]) -> @Sendable (RawServer.Connection) -> Void {
        { connection in
            while let head = connection.readRequest() {
                let lines = head.split(separator: "\r\n")
                let path = String(lines[0].split(separator: " ")[1])
                let sent = lines.filter { $0.lowercased().hasPrefix("cookie:") }.joined(separator: "|")
                let fields = (cookies[path] ?? []).map { "Set-Cookie: \($0)\r\n" }.joined()
                let redirect = path == "/go" ? "Location: /there\r\n" : ""
                connection.send(
                    "HTTP/1.1 \(path == "/go" ? 302 : 200) OK\r\n\(fields)\(redirect)"
                        + "Content-Length: \(sent.utf8.count)\r\n\r\n\(sent)")
            }
        }
    }

    private static func fetch(
        _ transferClient: TransferClient, _ url: String, _ jar: CookieBox?, own: String? = nil
    ) async -> String {
        var one = request(url)
        if let own { one.headers = [HeaderField("Cookie", own)] }
        return await transferClient.fetch(one, cookies: jar).text
    }

    @Test("a server gets its cookies back, even after a redirect; other servers do not get these cookies")
    func redirect() async throws {
        try await withServer(Self.server(["/go": ["a=1; Path=/", "b=2; Path=/elsewhere"]])) { server, transferClient in
            let (jar, other) = (CookieBox(), CookieBox())
            #expect(await Self.fetch(transferClient, server.url + "/go", jar) == "Cookie: a=1")
            #expect(await Self.fetch(transferClient, server.url + "/elsewhere/x", jar).contains("b=2"))
            #expect(await Self.fetch(transferClient, server.url + "/there", other) == "")
            #expect(await Self.fetch(transferClient, server.url + "/there", nil) == "")
            let port = server.port
            #expect(await Self.fetch(transferClient, "http://localhost:\(port)/there", jar) == "")
        }
    }

    @Test("the cookies of a request's headers and the cookies of the jar are sent in one field")
    func own() async throws {
        try await withServer(Self.server(["/set": ["a=1"]])) { server, transferClient in
            let jar = CookieBox()
            _ = await Self.fetch(transferClient, server.url + "/set", jar)
            #expect(await Self.fetch(transferClient, server.url + "/x", jar, own: "z=9") == "Cookie: a=1; z=9")
            #expect(await Self.fetch(transferClient, server.url + "/x", nil, own: "z=9") == "Cookie: z=9")
            #expect(await Self.fetch(transferClient, server.url + "/x", jar) == "Cookie: a=1")
        }
    }

    @Test("a cookie that the host has given as a credential is sent together with the cookies of the jar")
    func ofCredential() async throws {
        try await withServer(Self.server(["/set": ["a=1"]])) { server, transferClient in
            let jar = CookieBox()
            _ = await Self.fetch(transferClient, server.url + "/set", jar)
            var credentials = SessionCredentials()
            let space = ProtectionSpace(kind: .server, origin: server.url, realm: nil)
            credentials.storeResponse(
                Challenge(
                    id: ChallengeID(rawValue: 7), space: space, schemes: .other, failures: 0, timeMilliseconds: 0,
                    waitingTasks: 1), .headers([HeaderField("Cookie", "sid=1")]))
            var one = request(server.url + "/x")
            (one.credentials, one.headers) = (credentials, [HeaderField("Cookie", "z=9")])
            #expect(await transferClient.fetch(one, cookies: jar).text == "Cookie: a=1; sid=1")
        }
    }

    @Test(
        "cookies for other domains and cookies that break the rules of their name prefix are refused",
        arguments: [
            "a=1; Domain=example.org", "a=1; Domain=com", "a=1; Domain=0.0.1", "__Host-a=1; Path=/", "__Secure-a=1",
        ])
    func refused(_ cookie: String) async throws {
        try await withServer(Self.server(["/set": [cookie]])) { server, transferClient in
            let jar = CookieBox()
            _ = await Self.fetch(transferClient, server.url + "/set", jar)
            #expect(await transferClient.lines(of: jar).isEmpty)
        }
    }

    @Test("the persistent cookies of a jar can be exported as lines and imported into another jar")
    func lines() async throws {
        let cookies = ["a=1; Max-Age=1000; HttpOnly", "b=2", "c=3; Max-Age=0"]
        try await withServer(Self.server(["/set": cookies])) { server, transferClient in
            let (jar, later) = (CookieBox(), CookieBox())
            _ = await Self.fetch(transferClient, server.url + "/set", jar)
            let lines = await transferClient.lines(of: jar)
            let kept = lines.filter(CookieLine.outlivesEngine)
            #expect(lines.count == 2 && kept.count == 1)
            #expect(kept.allSatisfy { $0.hasPrefix("#HttpOnly_127.0.0.1\t") && $0.hasSuffix("\ta\t1") })
            await transferClient.add(kept, to: later)
            #expect(await Self.fetch(transferClient, server.url + "/x", later) == "Cookie: a=1")
        }
    }

    @Test(
        "a cookie keeps its value when it is stored, whatever its path",
        arguments: ["TRUE", "FALSE", "", "\"/x\"", "x"])
    func paths(_ path: String) async throws {
        try await withServer(Self.server(["/set": ["a=1; Max-Age=1000; Path=\(path)"]])) { server, transferClient in
            let (jar, later) = (CookieBox(), CookieBox())
            _ = await Self.fetch(transferClient, server.url + "/set", jar)
            let lines = await transferClient.lines(of: jar)
            await transferClient.add(lines, to: later)
            #expect(await transferClient.lines(of: later) == lines)
            #expect(await Self.fetch(transferClient, server.url + "/x", later) == "Cookie: a=1")
        }
    }

    @Test(
        "a cookie with a domain that no host has is not stored",
        arguments: ["\t", ".\t", "..a\t", ".#\t", "#HttpOnly_.\t"])
    func domainOfNoHost(_ domain: String) async throws {
        let jar = try CookieJar()
        jar.add(["\(domain)FALSE\t/\tFALSE\t0\ta\t1", "example.org\tFALSE\t/\tFALSE\t0\tb\t2"])
        #expect(jar.lines() == ["example.org\tFALSE\t/\tFALSE\t0\tb\t2"])
    }

    @Test(
        "a stored line that is a command or a header, or lacks a field of a cookie, has no effect",
        arguments: [
            "ALL", "SESS", "FLUSH", "RELOAD", "Set-Cookie: a=1; domain=example.org", "a.b\tFALSE\t/\tFALSE\t0\ta",
            "set-cookie: a=1\tTRUE\t/\tFALSE\t0\ta\t1",
        ])
    func noCookie(_ line: String) throws {
        let jar = try CookieJar()
        jar.add(["example.org\tFALSE\t/\tFALSE\t0\tb\t2", line])
        #expect(jar.lines() == ["example.org\tFALSE\t/\tFALSE\t0\tb\t2"])
    }

    @Test("a domain with too many cookies loses its oldest cookies, and other domains lose none")
    func bounded() {
        let flood = (0..<5_000).map { ".evil.example\tTRUE\t/\tFALSE\t0\tc\($0)\tx" }
        let good = (0..<10).map { "good.example\tFALSE\t/\tFALSE\t0\tg\($0)\tx" }
        let kept = CookieLimits.kept(of: flood + good)
        #expect(kept.count == CookieLimits.perDomain + 10 && Set(kept).isSuperset(of: good))
        #expect(kept.contains(flood[4_999]) && !kept.contains(flood[0]))
        #expect(CookieLimits.kept(of: good) == good)
        let many = (0..<20_000).map { "d\($0).example\tTRUE\t/\tFALSE\t0\tc\tx" }
        #expect(CookieLimits.kept(of: many).count <= CookieLimits.all)
    }
}

/// A cookie jar that belongs to the loop thread of the transfer client.
final class CookieBox: @unchecked Sendable {
    // Unchecked: only that thread uses the jar.
    var jar: CookieJar?
}

extension TransferClient {
    func lines(of box: CookieBox) async -> [String] {
        await event { _, done in done(box.jar?.lines() ?? []) }
    }

    func add(_ lines: [String], to box: CookieBox) async {
        let _: Bool = await event { _, done in
            box.jar = try? CookieJar()
            box.jar?.add(lines)
            done(true)
        }
    }
}
