import BackhaulPlatform
import CCurl
import Glibc

@testable import BackhaulModel
@testable import BackhaulTransport

/// The values of the header fields that the library interprets.
enum ResponseFields {
    private static func head(_ fields: [(String, [UInt8])], status: Int32 = 200) -> ResponseHead {
        ResponseHead(
            status: status, finalURL: "https://example.org/a/b.iso?c", isMultiplexed: false,
            fields: fields.map { ResponseField($0, $1) }, origin: "https://example.org:443",
            proxy: "http://proxy.example.org:3128")
    }

    /// The values of several fields are separated by NUL.
    @Sendable static func contentLength(_ bytes: [UInt8]) throws {
        let values = FuzzInput(bytes).parts()
        let fields = values.map { ResponseField("Content-Length", $0) }
        let expected = length(values)
        try requireEqual(ContentLength(fields), expected, "the length")
        let codings = ["identity", "chunked"].map { ResponseField("transfer-encoding", $0) }
        try requireEqual(ContentLength(fields + [codings[0]]), expected, "the length of a body without a coding")
        try requireEqual(ContentLength([codings[1]] + fields), .unknown, "the length of a body in chunks")
    }

    /// All numbers between commas must have the same digits (RFC 9110, section 8.6).
    private static func length(_ values: [[UInt8]]) -> ContentLength {
        let list = Array(values.joined(separator: [UInt8(ascii: ",")]))
        let numbers = list.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(trimmed)
        guard isNumber(numbers[0]), Set(numbers).count == 1 else { return .malformed }
        return .bytes(strtoull(String(decoding: numbers[0], as: UTF8.self), nil, 10))
    }

    private static func isNumber(_ text: [UInt8]) -> Bool {
        !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func trimmed(_ text: some Sequence<UInt8>) -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return text.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    }

    @Sendable static func contentRange(_ bytes: [UInt8]) throws {
        guard let text = ResponseField("", bytes).text, let range = ContentRange(text) else { return }
        let ends = range.range.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*"
        try requireEqual(
            ContentRange("bytes \(ends)/\(range.size.map { "\($0)" } ?? "*")"), range, "the range, written and read")
        guard let size = range.size, let last = range.range?.upperBound else { return }
        try require(last < size, "a range beyond the end")
    }

    @Sendable static func fileName(_ bytes: [UInt8]) throws {
        let head = head([("Content-Disposition", bytes)])
        try checkName(ServerFileName.choose(head, requested: "https://example.org/"))
        let url = "https://example.org/" + String(decoding: bytes, as: UTF8.self)
        for name in ServerFileName.directories(of: url) { try checkName(name) }
        if let name = ServerFileName.from(url: url) { try checkName(name) }
        try WrittenFields.fileName(bytes)
    }

    private static func checkName(_ name: String) throws {
        for name in [name, ServerFileName.numbered(name, 1), ServerFileName.numbered(name, .max)] {
            try require((1...255).contains(name.utf8.count), "\(name.utf8.count) bytes")
            try require(!name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 || $0 == 0x7F }, "a path: \(name)")
            try require(!name.hasPrefix("."), "a hidden file: \(name)")
        }
        try requireEqual(ServerFileName.component(name), name, "the name, made a name again")
    }

    /// The values of Retry-After and Date are separated by NUL.
    @Sendable static func retryAfter(_ bytes: [UInt8]) throws {
        let parts = FuzzInput(bytes).parts()
        guard parts.count <= 2, !bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return }
        var head = HeadCollector()
        let names = ["Retry-After", "Date"]
        let fields = zip(names, parts).map { Array("\($0): ".utf8) + $1 }
        let lines = [Array("HTTP/1.1 503 x".utf8)] + fields + [[]]
        for line in lines {
            if case .broken = head.add(line + [0x0D, 0x0A]) { return }
        }
        let delay = head.retryAfterSeconds
        if let delay { try require(delay >= 0, "a delay of \(delay)") }
        let number = trimmed(parts[0])
        if isNumber(number) {
            // strtoll(3) returns the largest number for one of more than 63 bits.
            try requireEqual(delay, Int64(strtoll(String(decoding: number, as: UTF8.self), nil, 10)), "a plain number")
        }
        let dates = try parts.map(checkDate)
        guard dates.count == 2, let until = dates[0], let now = dates[1] else { return }
        try requireEqual(delay, max(0, until - now), "the time between two dates")
    }

    /// Reads a date with the two readers of the library. A date since 1970 that both accept is the same time. libcurl
    /// reads a year below 100, such as 0000, as a year of this century or the last one.
    private static func checkDate(_ bytes: [UInt8]) throws -> Int64? {
        guard let text = ResponseField("", bytes).text, let own = IMFFixdate.seconds(text) else { return nil }
        let seconds = Int64(curl_getdate(text, nil))
        guard seconds >= 0, own >= 0 else { return nil }
        try requireEqual(own, seconds, "the date \(text)")
        return own
    }

    /// The values of several fields are separated by NUL.
    @Sendable static func digest(_ bytes: [UInt8]) throws {
        let field = DigestField(head(FuzzInput(bytes).parts().map { ("Repr-Digest", $0) }), "Repr-Digest")
        var written: [String] = []
        for (algorithm, checksum) in field.digests {
            try requireEqual(checksum.digest.count, algorithm.size, "the size of a digest")
            let text = String(decoding: Base64.encoded(checksum.digest), as: UTF8.self)
            written.append("\(algorithm.rawValue)=:\(text):")
        }
        // Parameters, and members of other types, do not change the result.
        let parameters = ";a=@-1;b=%\"%c3%a9\";c=1.5;d=\"\\\"\";e=?0;f=*/"
        let others = ["a=@1", "b=%\"\"", "c=(1 @2)"]
        for members in [written, others + written.map { $0 + parameters }] {
            let value = Array(members.joined(separator: ", ").utf8)
            let again = DigestField(head([("Repr-Digest", value)]), "Repr-Digest")
            try requireEqual(again.digests, field.digests, "the digests, written and read")
        }
        try WrittenFields.digest(bytes)
    }

    /// The values of several fields are separated by NUL.
    @Sendable static func challenge(_ bytes: [UInt8]) throws {
        let values = FuzzInput(bytes).parts()
        for (status, name) in [(Int32(401), "WWW-Authenticate"), (407, "Proxy-Authenticate")] {
            let head = head(values.map { (name, $0) }, status: status)
            guard let challenge = AuthenticationChallenge(head) else {
                throw Violation(description: "the status \(status) demands no credential")
            }
            try require(!challenge.schemes.isEmpty, "a challenge without a scheme")
            let realm = challenge.space.realm ?? ""
            try require(realm.utf8.count <= AuthenticationField.realmSize, "a realm of \(realm.utf8.count) bytes")
            try requireEqual(PlainText.of(realm, atMost: .max), realm, "the realm as plain text")
            // A combining mark after a quotation mark makes one Character with it, so scalars are compared.
            let escaped = realm.unicodeScalars.map { "\\\"".unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }.joined()
            let read = AuthenticationField.schemes(["Basic realm=\"\(escaped)\", Digest nonce=a"])
            try requireEqual(read.map(\.name), ["basic", "digest"], "the schemes, written and read")
            try requireEqual(read.first?.realm, realm, "the realm, written and read")
        }
        let offered = AuthenticationField.schemes(values.map { ResponseField("", $0).plainText })
        try require(offered.count <= AuthenticationField.schemeLimit, "\(offered.count) schemes")
        try WrittenFields.challenge(bytes)
    }

    @Sendable static func location(_ bytes: [UInt8]) throws {
        for base in ["https://example.org/a/b?c#d", "http://example.org/a/b?c#d", "HTTPS://EXAMPLE.ORG:8443/A"] {
            try location(bytes, from: base)
        }
    }

    private static func location(_ bytes: [UInt8], from base: String) throws {
        let origin = try URLParser.origin(of: base)
        let redirect: Redirect
        do throws(Failure) {
            redirect = try Redirect.decide(bytes, from: base, origin, keepsHeaders: true, count: 0, limit: 1)
        } catch {
            try requireEqual(error.status, .redirectRefused, "the status of the failure")
            return
        }
        let schemes = origin.scheme == "https" ? ["https"] : ["http", "https"]
        try require(schemes.contains(redirect.origin.scheme), "the scheme \(redirect.origin.scheme)")
        try requireEqual(redirect.keepsHeaders, redirect.origin == origin, "whether the headers are sent")
        try require(redirect.url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a URL that is not ASCII")
        try requireEqual(try URLParser.origin(of: redirect.url), redirect.origin, "the origin of the URL")
        // A fragment alone leads to the base as it was written.
        guard redirect.url != base else { return }
        let again = try URLParser.resolve(Array(redirect.url.utf8), against: base)
        try requireEqual(again.url, redirect.url, "the URL, resolved again")
        try requireEqual(again.origin, redirect.origin, "the origin of the URL, resolved again")
    }

    /// The domain, path and name of a cookie. The case of a domain has no meaning.
    private static func cookieKey(_ line: String) -> [String] {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        return [fields[0].lowercased(), fields[2], fields[5]]
    }

    /// The bytes are lines of a store, which should be those of Netscape's cookie file.
    @Sendable static func cookies(_ bytes: [UInt8]) throws {
        let now = Clock.wallMilliseconds / 1_000
        let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        let jar = try CookieJar()
        jar.add(lines)
        let kept = jar.lines()
        for line in kept {
            try require(!CookieLine.hasExpired(line, now: now), "an expired cookie: \(line)")
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            try requireEqual(fields.count, 7, "the fields of the cookie \(line)")
        }
        let second = try CookieJar()
        second.add(kept)
        // Of two cookies of a damaged store with the same domain, path and name, libcurl loads one.
        let loaded = Set(second.lines())
        try require(loaded.isSubset(of: kept), "the cookies \(kept), stored and loaded, are \(loaded)")
        try requireEqual(Set(loaded.map(cookieKey)), Set(kept.map(cookieKey)), "the cookies, stored and loaded")
        try WrittenFields.cookie(bytes, now: now)
    }
}
