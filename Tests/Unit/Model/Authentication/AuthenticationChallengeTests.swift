import Testing

@testable import BackhaulModel

@Suite("The challenge of a 401 or 407 response")
struct AuthenticationChallengeTests {
    private func authChallenge(
        _ fields: String..., status: Int32 = 401, proxy: String? = nil
    ) -> AuthenticationChallenge? {
        let name = status == 407 ? "Proxy-Authenticate" : "WWW-Authenticate"
        return AuthenticationChallenge(
            ResponseHead(
                status: status, finalURL: "https://example.org/a/b?c=/d", isMultiplexed: false,
                fields: fields.map { ResponseField(name, $0) }, origin: "https://example.org:443", proxy: proxy))
    }

    /// Returns the schemes with their realms, such as "basic:staff".
    private func read(_ fields: String...) -> [String] {
        AuthenticationField.schemes(fields).map { scheme in
            scheme.realm.map { "\(scheme.name):\($0)" } ?? scheme.name
        }
    }

    @Test("one or more header fields with several challenges are parsed (RFC 9110, section 11.6.1)")
    func grammar() {
        #expect(
            read("Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"")
                == ["basic:simple", "newauth:apps"])
        #expect(
            read("Digest realm=\"a, Basic realm=b\", nonce=\"x\", Basic realm=c")
                == ["digest:a, Basic realm=b", "basic:c"])
        #expect(read("Basic realm=a", "Bearer realm=b") == ["basic:a", "bearer:b"])
        #expect(read("Negotiate, NTLM, Basic realm=\"x\"") == ["negotiate", "ntlm", "basic:x"])
        #expect(read("Negotiate oYG2MIGzoA==, Basic realm=x") == ["negotiate", "basic:x"])
        #expect(read("bAsIc REALM = \"y\"") == ["basic:y"])
        #expect(read(",, , Basic ,realm=z,,") == ["basic:z"])
        #expect(read("Basic realm=\"\"") == ["basic:"])
        #expect(read("Basic charset=\"UTF-8\", realm=\"one\", realm=\"two\"") == ["basic:one"])
    }

    @Test(
        "a malformed WWW-Authenticate still gives a challenge, with a limited number of named schemes",
        arguments: [
            "", ",", "=", "\"", "\"\\", "realm=x", "Basic realm=", "Basic realm=\"open", "Basic =x", "= Basic",
            "Basic realm=\"\\",
            "\u{1}\u{2}", "Basic\u{0}realm=x", "äöü", "((((", "Basic realm=x y=z",
            String(repeating: "\"", count: 20_000),
            String(repeating: "a=", count: 20_000), String(repeating: "a b,", count: 20_000),
        ])
    func broken(_ field: String) {
        let schemes = AuthenticationField.schemes([field, field])
        #expect(schemes.count <= AuthenticationField.schemeLimit)
        #expect(schemes.allSatisfy { !$0.name.isEmpty })
        #expect(authChallenge(field) != nil)
    }

    @Test("random text in WWW-Authenticate causes no crash, and no realm with control characters")
    func random() {
        var random = Random(seed: 5)
        let alphabet = Array("Basic realm=\"x\\,; \t\u{1}é".unicodeScalars)
        for _ in 0..<5_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<random.number(0...40) { text.append(alphabet[random.number(0...(alphabet.count - 1))]) }
            for scheme in AuthenticationField.schemes([String(text)]) {
                #expect(scheme.realm?.unicodeScalars.allSatisfy { $0.value >= 0x20 } ?? true)
            }
        }
    }

    @Test("the realm of a challenge has a limited size and no invisible characters")
    func realm() {
        #expect(authChallenge("Basic realm=\"a\tb\u{202E}c\u{7F}d\u{200B}\u{85}e\u{2028}\"")?.space.realm == "abcde")
        let long = authChallenge("Basic realm=\"\(String(repeating: "ä", count: 2_000))\"")?.space.realm
        #expect(long?.utf8.count == 1_024)
    }

    @Test("a challenge has the realm of its strongest supported scheme, and lists all its schemes")
    func best() {
        let all = authChallenge(
            "Digest realm=\"d\", nonce=n, Bearer realm=\"t\"", "Basic realm=\"b\"", "Negotiate", "Hawk")
        #expect(all?.space == ProtectionSpace(kind: .server, origin: "https://example.org:443", realm: "d"))
        #expect(authChallenge("Bearer realm=\"t\"", "Basic realm=\"b\"")?.space.realm == "b")
        #expect(all?.schemes == [.digest, .bearer, .basic, .negotiate, .other])
        #expect(authChallenge("Hawk realm=\"h\", Bearer realm=\"t\"")?.space.realm == "t")
        #expect(authChallenge("Digest realm=\"d\", nonce=n")?.space.realm == "d")
        #expect(authChallenge("Bearer")?.space.realm == nil)
    }

    @Test(
        "a Digest with an unknown algorithm is passed over (RFC 7616, section 3.7)",
        arguments: [
            "SHA-512-256", "SHA-1024", "\"sha-512-256-sess\"", "AES", "",
        ])
    func unknownDigest(_ algorithm: String) {
        let digest = "Digest realm=\"d\", nonce=\"n\", algorithm=\(algorithm)"
        for asked in [authChallenge(digest, "Basic realm=\"b\""), authChallenge("Basic realm=\"b\"", digest)] {
            #expect(asked?.schemes == [.basic, .other])
            #expect(asked?.space.realm == "b")
        }
        #expect(authChallenge(digest)?.schemes == .other)
        #expect(authChallenge("Digest realm=\"k\", nonce=n, algorithm=md5", digest)?.schemes == .digest)
    }

    @Test(
        "a Digest that libcurl cannot read is passed over",
        arguments: [
            "Digest realm=\"d\"", "Digest realm=\"d\", algorithm=MD5", "Digest",
            "Digest realm=\"d\", nonce=\"n\", algorithm=MD5, algorithm=FOO",
            "Digest realm=\"d\", nonce=\"n\", algorithm=FOO, algorithm=MD5",
        ])
    func unreadableDigest(_ digest: String) {
        let asked = authChallenge(digest, "Basic realm=\"b\"")
        #expect(asked?.schemes == [.basic, .other])
        #expect(asked?.space.realm == "b")
        #expect(authChallenge(digest)?.schemes == .other)
    }

    @Test(
        "a Digest with an algorithm that libcurl computes is usable",
        arguments: [
            "MD5", "md5-sess", "\"MD5\"", "SHA-256", "Sha-256-Sess",
        ])
    func knownDigest(_ algorithm: String) {
        let asked = authChallenge("Digest realm=\"d\", nonce=n, algorithm=\(algorithm)", "Basic realm=\"b\"")
        #expect(asked?.schemes == [.digest, .basic])
        #expect(asked?.space.realm == "d")
    }

    @Test("a 401 response without WWW-Authenticate is a challenge with an unknown scheme and no realm")
    func withoutField() {
        #expect(authChallenge()?.space.realm == nil)
        #expect(authChallenge()?.schemes == .other)
    }

    @Test("a 407 response from a proxy is a challenge, but a 407 without a proxy and a 403 are no challenges")
    func proxy() {
        let asked = authChallenge("Basic realm=\"p\"", status: 407, proxy: "http://proxy:3128")
        #expect(asked?.space == ProtectionSpace(kind: .proxy, origin: "http://proxy:3128", realm: "p"))
        #expect(authChallenge("Basic realm=\"p\"", status: 407) == nil)
        #expect(authChallenge("Basic realm=\"p\"", status: 403) == nil)
    }

    @Test(
        "the scope of a protection space is the directory of the URL",
        arguments: [
            ("https://example.org/a/b?c=/d", "/a/"), ("https://example.org", "/"), ("https://example.org/", "/"),
            ("https://example.org?x", "/"), ("http://[::1]:80/a", "/"), ("http://h/a/b/#/c/d", "/a/b/"), ("", "/"),
        ])
    func scope(_ url: String, _ scope: String) { #expect(URLPath.directory(of: url) == scope) }
}
