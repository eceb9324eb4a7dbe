import Testing

@testable import BackhaulModel

/// A *redactor* replaces secrets, such as passwords, in the parts of a response that are stored.
@Suite("Secrets in responses are not stored")
struct SecretRedactorTests {
    private func secrets(_ responses: ChallengeResponse...) -> SecretRedactor {
        var secrets = SecretRedactor()
        for response in responses { secrets.add(response) }
        return secrets
    }

    private let credential = ChallengeResponse.credential(user: "user", password: "password")
    private let token = ChallengeResponse.headers([HeaderField("Authorization", "Bearer abc.def")])

    @Test("asterisks replace a password, both in plain text and in base64 together with the user name")
    func credentials() {
        let secrets = secrets(credential)
        #expect(secrets.redacted("user sent password, dXNlcjpwYXNzd29yZA==.") == "user sent ********, \(stars(20)).")
        #expect(secrets.redacted("passwordpassword passwor") == "\(stars(16)) passwor")
    }

    @Test(
        "a credential in base64 is replaced together with its padding",
        arguments: [("p", "dTpw"), ("pq", "dTpwcQ=="), ("pqr", "dTpwcXI="), ("ÿ~>?", "dTrDv34+Pw==")])
    func padding(_ password: String, _ encoded: String) {
        let secrets = secrets(.credential(user: "u", password: password))
        #expect(secrets.redacted("<\(encoded)>") == "<\(stars(encoded.utf8.count))>")
    }

    @Test("the secret of a header field is replaced, with or without a scheme such as Bearer before it")
    func headers() {
        let secrets = secrets(token, .headers([HeaderField("X-Key", "k3y!")]))
        #expect(secrets.redacted("Bearer abc.def, abc.def, k3y!, Bearer") == "\(stars(14)), \(stars(7)), ****, Bearer")
    }

    @Test("secrets shorter than four bytes are not replaced")
    func short() {
        #expect(secrets(.credential(user: "u", password: "the")).redacted("the end") == "the end")
        #expect(secrets(.refuse, .headers([HeaderField("A", "")])).redacted("the end") == "the end")
    }

    @Test("if a truncated body ends with the start of a secret, this start is replaced")
    func cut() {
        let body = Array("so: passwo".utf8)
        #expect(secrets(credential).redacted(body, isCut: true) == Array("so: ******".utf8))
        #expect(secrets(credential).redacted(body) == body)
        #expect(secrets(credential).redacted(Array("a pas".utf8), isCut: true) == Array("a pas".utf8))
    }

    @Test("two secrets that overlap are both replaced")
    func overlapping() {
        let secrets = secrets(.headers([HeaderField("A", "abcdef"), HeaderField("B", "defghi")]))
        #expect(secrets.redacted("-abcdefghi-") == "-*********-")
    }

    @Test("secrets are replaced in a head's fields and final URL, except in lengths, dates and the requested URL")
    func heads() {
        let fields = [
            ResponseField("ETag", "\"password\""), ResponseField("link", "<password>"),
            ResponseField("Content-Length", "2026"),
            ResponseField("Last-Modified", "Fri, 20 Nov 2026 08:00:00 GMT"), ResponseField("Content-Type", "a/b"),
        ]
        let head = ResponseHead(status: 500, finalURL: "http://a/password", isMultiplexed: false, fields: fields)
        let secrets = secrets(credential, .credential(user: "u", password: "2026"))
        let kept = secrets.redacted(head, requested: "http://a/")
        #expect(kept.finalURL == "http://a/********")
        #expect(
            kept.fields.map(\.plainText) == [
                "W/\"********\"", "<********>", "2026", "Fri, 20 Nov 2026 08:00:00 GMT", "a/b",
            ])
        #expect(Validator(of: kept).ifRange == nil)
        #expect(secrets.redacted(head, requested: "http://a/password").finalURL == "http://a/password")
        #expect(SecretRedactor().redacted(head, requested: "") == head)
    }

    @Test("no description of a redactor contains a secret")
    func silent() {
        var dumped = ""
        dump(secrets(credential), to: &dumped)
        #expect(!"\(dumped)\(secrets(credential))".contains("112"))
        #expect(!"\(dumped)\(secrets(credential))".contains("passw"))
    }

    private func stars(_ count: Int) -> String { String(repeating: "*", count: count) }
}
