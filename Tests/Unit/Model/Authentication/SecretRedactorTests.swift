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

    @Test("a byte is replaced exactly if it is part of a secret")
    func everyOccurrence() {
        var random = Random(seed: 1)
        // With two letters, secrets often overlap with themselves and with each other.
        func text(_ size: Int) -> [UInt8] { (0..<size).map { _ in random.once(in: 2) ? 0x61 : 0x62 } }
        for _ in 0..<2_000 {
            let values = [text(random.number(4...9)), text(random.number(4...9))]
            let bytes = text(random.number(0...40))
            var expected = bytes
            for value in values {
                for start in bytes.indices where bytes[start...].starts(with: value) {
                    for index in start..<start + value.count { expected[index] = 0x2A }
                }
            }
            let fields = values.map { HeaderField("A", String(decoding: $0, as: UTF8.self)) }
            #expect(secrets(.headers(fields)).redacted(bytes) == expected)
        }
    }

    /// With a search that compares each secret at each position, this test needs 10^10 comparisons.
    @Test("long secrets are replaced in a long text that repeats their bytes")
    func repetitions() {
        var secrets = SecretRedactor()
        for size in 16_340..<16_350 {
            secrets.add(redirectTarget: "http://a/?" + String(repeating: "a", count: size), requested: "http://a/")
        }
        let text = [UInt8](repeating: 0x61, count: 100_000)
        #expect(secrets.redactedMessage(text, isCut: true) == [UInt8](repeating: 0x2A, count: text.count))
        #expect(secrets.redactedMessage(Array(text.prefix(16_000))) == Array(text.prefix(16_000)))
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

    @Test("the query values of a redirect's target are replaced in messages, encoded or not, and nowhere else")
    func signedLink() {
        var secrets = SecretRedactor()
        let url = "http://a/b?X-Credential=AKIA%2F2026&X-Signature=0f0e0d0c;v=true&loose-token#also-this-part"
        secrets.add(redirectTarget: url, requested: "http://a/b?c")
        secrets.add(redirectTarget: "http://a/b", requested: "")
        #expect(
            secrets.redactedMessage("AKIA%2F2026 AKIA/2026 0f0e0d0c v=true loose-token also-this-part X-Signature")
                == "\(stars(11)) \(stars(9)) \(stars(8)) v=true \(stars(11)) \(stars(14)) X-Signature")
        #expect(secrets.redactedMessage(Array("<0f0e".utf8), isCut: true) == Array("<****".utf8))
        #expect(secrets.redacted("0f0e0d0c") == "0f0e0d0c")
        let fields = [ResponseField("Content-Disposition", "attachment; filename=0f0e0d0c")]
        let head = ResponseHead(status: 200, finalURL: url, isMultiplexed: false, fields: fields)
        #expect(secrets.redacted(head, requested: "") == head)
    }

    @Test("values that are in the host's own URL, too, are not replaced")
    func ownQuery() {
        var secrets = SecretRedactor()
        secrets.add(redirectTarget: "https://a/?name=long-name.iso", requested: "http://a/?name=long-name.iso")
        #expect(secrets.redactedMessage("no long-name.iso") == "no long-name.iso")
    }

    @Test("the secrets in a request's own fields are replaced in messages, and other fields are not")
    func ownFields() {
        var secrets = SecretRedactor()
        secrets.add(requestFields: [
            HeaderField("authorization", "Bearer abc.def"), HeaderField("X-Api-Key", "k3y!"),
            HeaderField("Cookie", "a"),
            HeaderField("Accept", "text/html"),
        ])
        #expect(secrets.redactedMessage("abc.def k3y! text/html a") == "\(stars(7)) **** text/html a")
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
