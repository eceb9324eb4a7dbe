@testable import BackhaulModel
import Testing

@Suite("The digests that a server announces")
struct DigestFieldTests {
    private static let zeros32 = String(repeating: "A", count: 43) + "="
    private static let zeros64 = String(repeating: "A", count: 86) + "=="
    private let sha256 = Checksum(.sha256, [UInt8](repeating: 0, count: 32))
    private let sha512 = Checksum(.sha512, [UInt8](repeating: 0, count: 64))

    private func read(_ lines: String...) -> Checksum? {
        DigestField(head(200, lines: lines.map { "Repr-Digest: \($0)" }), "Repr-Digest").preferred
    }

    @Test("a digest is read from a structured field of type dictionary; parameters and unknown algorithms are ignored")
    func wellFormed() {
        #expect(read("sha-256=:\(Self.zeros32):") == sha256)
        #expect(read("sha-512=:\(Self.zeros64):") == sha512)
        #expect(read("md5=:AAAA:, sha-512=:\(Self.zeros64):;x=1;y") == sha512)
        #expect(read("sha-512=:\(Self.zeros64): ,\t sha-256=:\(Self.zeros32):") == sha256)
        let others = "a=\"quoted, \\\"comma\\\"\", b=(1 2;q=1.5 \"x\"), c=?1, d, e=tok/en, f=-3"
        #expect(read(others, "sha-256=:\(Self.zeros32):") == sha256)
        // RFC 9651 added dates and display strings.
        let added = "a=@1659578233;b=@-1, c=%\"f%c3%bc %25\";d=%\"\", e=(@0 %\"x\")"
        #expect(read(added, "sha-256=:\(Self.zeros32):, x=@1") == sha256)
        // The padding of base64 is optional.
        #expect(read("sha-256=:\(Self.zeros32.dropLast()):") == sha256)
    }

    @Test(
        "a digest is ignored if its field is malformed or its value is not a byte sequence",
        arguments: [
            "", "sha-256", "sha-256=", "sha-256=AAAA", "sha-256=:AAAA", "sha-256=:A*AA:",
            "sha-256=:\(zeros32): sha-512",
            "sha-256=:\(zeros32):,", ",sha-256=:\(zeros32):", "SHA-256=:\(zeros32):", "sha-256 =:\(zeros32):",
            "sha-256= :\(zeros32):", "sha-256=:\(zeros32):;", "sha-256=:\(zeros32):;=1",
            "a=\"open, sha-256=:\(zeros32):",
            "a=(1 2, sha-256=:\(zeros32):", "a=1.2345, sha-256=:\(zeros32):", "a=?2, sha-256=:\(zeros32):",
            "sha-256=:\(zeros32):\u{0}", "=:\(zeros32):", "\u{FFFD}=1, sha-256=:\(zeros32):", "-, sha-256=:\(zeros32):",
            "a=12345678901234567890, sha-256=:\(zeros32):", "a=\"\\x\", sha-256=:\(zeros32):",
            "a=@, sha-256=:\(zeros32):", "a=@1.5, sha-256=:\(zeros32):", "a=%x, sha-256=:\(zeros32):",
            "a=%\"open, sha-256=:\(zeros32):", "a=%\"%C3%BC\", sha-256=:\(zeros32):",
            "a=%\"%c3\", sha-256=:\(zeros32):", "a=%\"%4\", sha-256=:\(zeros32):",
            "a=%\"ü\", sha-256=:\(zeros32):",
        ])
    func malformed(_ text: String) { #expect(read(text) == nil) }

    @Test("a digest with the wrong length for its algorithm is ignored")
    func wrongLength() {
        #expect(read("sha-256=:AAAA:") == nil)
        #expect(read("sha-256=::") == nil)
        #expect(read("sha-256=:\(Self.zeros64):") == nil)
        #expect(read("sha-256=:AAAA:, sha-512=:\(Self.zeros64):") == sha512)
    }

    @Test("if an algorithm occurs twice in a digest field, only its last value counts")
    func repeated() {
        #expect(read("sha-256=:\(Self.zeros32):, sha-256=1") == nil)
        #expect(read("sha-256=1", "sha-256=:\(Self.zeros32):") == sha256)
    }

    @Test("a digest in a very long field is ignored")
    func flood() {
        #expect(read("sha-256=:\(Self.zeros32):, a=\"\(String(repeating: "x", count: 10_000))\"") == nil)
    }

    private func digest(_ head: ResponseHead, _ change: (inout DownloadTerms) -> Void = { _ in }) -> Checksum? {
        var terms = DownloadTerms()
        change(&terms)
        return RepresentationMetadata(head, terms).digest
    }

    private let repr = "Repr-Digest: sha-256=:\(zeros32):"
    private let content = "Content-Digest: sha-512=:\(zeros64):"

    @Test("a digest comes from Repr-Digest, or from Content-Digest if the response is not partial")
    func kinds() {
        #expect(digest(head(200, repr)) == sha256)
        #expect(digest(head(200, content)) == sha512)
        #expect(digest(head(200, content, repr)) == sha256)
        #expect(digest(head(206, repr)) == sha256)
        #expect(digest(head(206, content)) == nil)
    }

    @Test("Repr-Digest is used only after a successful GET, and Content-Digest after any response with a whole body")
    func otherAnswers() {
        #expect(digest(head(404, repr)) == nil)
        #expect(digest(head(404, content)) == sha512)
        #expect(digest(head(200, repr)) { $0.method = "POST" } == nil)
        #expect(digest(head(200, content)) { $0.method = "POST" } == sha512)
        #expect(digest(head(200, repr)) { $0.method = "HEAD" } == nil)
        #expect(digest(head(204, content)) == nil)
    }

    @Test("a server's digest is not used if the request has a checksum or ignores digests")
    func notWanted() {
        #expect(digest(head(200, repr)) { $0.checksum = sha512 } == nil)
        #expect(digest(head(200, repr)) { $0.ignoresDigests = true } == nil)
    }
}
