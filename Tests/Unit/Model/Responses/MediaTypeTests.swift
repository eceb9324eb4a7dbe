import Testing

@testable import BackhaulModel

@Suite("Media types of responses")
struct MediaTypeTests {
    @Test(
        "a list of media ranges contains a type as in the field Accept",
        arguments: [
            ("image/png", "image/png", true), ("image/png", "IMAGE/PNG; q=1", true), ("image/*", "image/jpeg", true),
            ("*/*", "text/html", true), ("application/zip, image/*", "image/x", true), ("a/b,c/d", "c/d", true),
            ("image/*", "text/html", false), ("image/png", "image/pngx", false), ("image/*", "image", false),
            ("application/octet-stream", nil, true), ("image/*", nil, false), ("image/*", "", false),
            ("image/*", "image/png, text/html", false),
        ] as [(String, String?, Bool)])
    func contains(_ list: String, _ type: String?, _ isContained: Bool) throws {
        #expect(try #require(MediaRanges(list)).contain(type) == isContained)
    }

    @Test(
        "a text that is not a list of media ranges is refused, and the message names the option",
        arguments: ["", "image", "image/", "/png", "*/png", "image/png;q=1", "image/p ng", "a/b,", "a/b/c", "\u{e4}/b"])
    func invalid(_ text: String) throws {
        #expect(MediaRanges(text) == nil)
        let failure = #expect(throws: Failure.self) { try MediaRanges.check(text) }
        #expect(failure?.message.contains("accepted_types") == true)
    }

    private static let html = "Content-Type: text/html; charset=utf-8"

    @Test(
        "a page of another origin is suspicious if the URL names a file, or if a part of the file came from elsewhere",
        arguments: [
            ("https://a.org/f.zip", "https://b.org/login", html, nil, true),
            ("https://a.org/f.ZIP?x=1.html", "https://b.org/", "Content-Type: application/xhtml+xml", nil, true),
            ("https://a.org/page", "https://b.org/login", html, "https://a.org/page", true),
            ("https://a.org/page", "https://b.org/login", html, "https://c.org/page", true),
            // The part came from the origin of the page.
            ("https://a.org/page", "https://b.org/login", html, "https://b.org/page", false),
            ("https://a.org/page", "https://b.org/login", html, nil, false),
            // The task has got another URL since.
            ("https://a.org/page", "https://b.org/login", html, "", false),
            ("https://a.org/zip", "https://b.org/", html, nil, false),
            ("https://a.zip", "https://b.org/", html, nil, false),
            // The page comes from the origin of the URL.
            ("https://a.org/f.zip", "https://a.org/login", html, nil, false),
            ("https://a.org/f.zip", "https://a.org/f.zip", html, nil, false),
            ("https://a.org/f.zip", "https://b.org/f.zip", "Content-Type: application/zip", nil, false),
            ("https://a.org/f.zip", "https://b.org/f.zip", "X: y", nil, false),
        ] as [(String, String, String, String?, Bool)])
    func suspicious(_ url: String, _ final: String, _ type: String, _ part: String?, _ isSuspicious: Bool) {
        let known = part.map {
            Checkpoint(validator: Validator(), finalURL: $0, size: nil, syncedOffset: 9, bootID: "")
        }
        #expect(PageSuspicion.isSuspicious(head(200, type, url: final), of: url, known) == isSuspicious)
    }

    @Test(
        "a redirect leads to a login page if its target has such a name and sends a page",
        arguments: [
            ("https://a.org/f", "https://a.org/login?next=/f", html, true),
            ("https://a.org/f", "https://accounts.example.com/x", html, true),
            ("https://a.org/f", "https://b.org/oauth2/start", html, true),
            ("https://a.org/f.iso", "https://b.org/welcome", html, true),
            ("https://a.org/f", "https://a.org/catalogin/f", html, false),
            ("https://a.org/f", "https://a.org/guides/auth/session", html, false),
            ("https://a.org/login/f", "https://a.org/login/g", html, false),
            ("https://a.org/f", "https://a.org/login", "Content-Type: image/png", false),
            ("https://a.org/f", "https://a.org/f", html, false),
        ])
    func login(_ url: String, _ final: String, _ type: String, _ isLogin: Bool) {
        #expect(PageSuspicion.isLogin(head(200, type, url: final), of: url) == isLogin)
    }

    @Test("a login page does not become the file, and the message names its URL without the query")
    func loginRefused() throws {
        var terms = DownloadTerms()
        terms.url = "https://a.org/f.zip"
        let page = head(200, Self.html, url: "https://a.org/users/sign_in?token=1")
        guard case .retry(let failure, fromZero: false) = ResponsePlan.decide(page, offset: 0, known: nil, terms: terms)
        else {
            Issue.record("the page became the file")
            return
        }
        #expect(failure.status == .unexpectedType)
        #expect(failure.message.contains("https://a.org/users/sign_in, ") && !failure.message.contains("token"))
        terms.acceptedTypes = MediaRanges("text/html")
        #expect(
            ExpectedPlan(ResponsePlan.decide(page, offset: 0, known: nil, terms: terms)) == .startsOver(size: nil))
    }

    @Test(
        "an upload that was redirected to a login page or to a page of another host is refused",
        arguments: [
            (200, "https://a.org/f", "https://a.org/login?next=/f", html, true),
            (201, "https://a.org/f", "https://a.org/login", html, true),
            (200, "https://a.org/f", "https://portal.net/welcome", html, true),
            (200, "https://a.org/f", "https://a.org:444/welcome", html, true),
            (200, "https://a.org/f.jpg", "http://u@portal.net", html, true),
            // The result of a form.
            (200, "https://a.org/f", "https://a.org/result/7", html, false),
            (200, "https://a.org/f", "https://a.org/f", html, false),
            (200, "http://a.org/f", "https://A.org/f", html, false),
            (200, "https://user@a.org/f", "https://a.org/result", html, false),
            (201, "https://a.org/f", "https://b.org/f", html, false),
            (200, "https://a.org/f", "https://b.org/f", "Content-Type: application/json", false),
            (200, "https://a.org/f", "https://b.org/f", "X: y", false),
        ] as [(Int32, String, String, String, Bool)])
    func upload(_ status: Int32, _ url: String, _ final: String, _ type: String, _ isRefused: Bool) {
        let failure = PageSuspicion.refusal(ofUpload: head(status, type, url: final), to: url)
        #expect(failure.map(\.status) == (isRefused ? .unexpectedType : nil))
    }

    @Test("a response of another type is refused before its body, and keeps the bytes of earlier attempts")
    func refused() {
        var terms = DownloadTerms()
        terms.acceptedTypes = MediaRanges("image/*")
        let rest = head(206, "Content-Range: bytes 500-999/1000", "ETag: \"a\"", "Content-Type: text/html")
        let page = head(200, Self.html)
        for (head, part) in [(page, ExistingPart.nothing), (page, .tagged), (rest, .tagged)] {
            let plan = ResponsePlan.decide(head, offset: part.offset, known: part.checkpoint, terms: terms)
            guard case .retry(let failure, fromZero: false) = plan else {
                Issue.record("\(plan)")
                continue
            }
            #expect(failure.status == .unexpectedType)
        }
        let empty = ResponsePlan.decide(head(204), offset: 0, known: nil, terms: terms)
        #expect(ExpectedPlan(empty) == .startsOver(size: 0))
    }

    @Test("the rest of a file of an accepted type may come without Content-Type")
    func restWithoutType() {
        var terms = DownloadTerms()
        terms.acceptedTypes = MediaRanges("image/*")
        let (rest, part) = (head(206, "Content-Range: bytes 500-999/1000", "ETag: \"a\""), ExistingPart.tagged)
        let plan = ResponsePlan.decide(rest, offset: part.offset, known: part.checkpoint, terms: terms)
        #expect(ExpectedPlan(plan) == .appends(of: 1000, through: 1000))
    }
}
