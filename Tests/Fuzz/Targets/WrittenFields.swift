import Foundation

@testable import BackhaulModel
@testable import BackhaulTransport

/// Valid values of header fields, which are made from the bytes of an input. Each must be read as what was written.
enum WrittenFields {
    private static let nameCharacters = Array("abzAZ019._- ()+,=@é日🎉")

    /// A name that needs no change, in each place in which a server may write it.
    static func fileName(_ bytes: [UInt8]) throws {
        let name = plainName(bytes)
        let encoded = name.utf8.map { isLetterOrDigit($0) ? String(Unicode.Scalar($0)) : percentEncoded($0) }.joined()
        try requireEqual(ServerFileName.component(name), name, "a plain name")
        try requireEqual(ServerFileName.from(url: "https://example.org/a/\(encoded)?b"), name, "the name of a URL")
        for parameters in [
            "filename=\"\(name)\"", "filename=\(name)", "filename=\"b\"; filename*=UTF-8''\(encoded)",
        ] {
            let head = head([ResponseField("Content-Disposition", "attachment; \(parameters)")])
            let found = ServerFileName.choose(head, requested: "https://example.org/")
            try requireEqual(found, name, "the name of \(parameters)")
        }
    }

    private static func plainName(_ bytes: [UInt8]) -> String {
        var name = ""
        for byte in bytes {
            let next = nameCharacters[Int(byte) % nameCharacters.count]
            if name.isEmpty, next == "." || next == " " { continue }
            guard name.utf8.count + next.utf8.count <= 255 else { break }
            name.append(next)
        }
        while name.last == "." || name.last == " " { name.removeLast() }
        return name.isEmpty ? "a" : name
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter || (0x30...0x39).contains(byte)
    }

    private static func percentEncoded(_ byte: UInt8) -> String {
        "%" + String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
    }

    private static func head(_ fields: [ResponseField]) -> ResponseHead {
        ResponseHead(
            status: 200, finalURL: "https://example.org/", isMultiplexed: false, fields: fields,
            origin: "https://example.org:443")
    }

    /// A dictionary with digests and other members, in one field or in several ones.
    static func digest(_ bytes: [UInt8]) throws {
        var (input, values, expected) = (FuzzInput(bytes), [String](), [Checksum.Algorithm: Checksum]())
        for _ in 0...input.byte() % 4 {
            let member: String
            switch input.byte() % 4 {
            case 0:
                member = input.choice([
                    "md5=:AAAA:", "unixsum=30637", "sha=?1", "a", "crc=\"x, \\\"y=:AA==:\"", "l=(1 \"b\";c 2);d",
                    "*=tok/en:x", "d=-1.5", "sha-384=:AAAA:",
                ])
            case 1:
                // A later member takes the place of an earlier one, even if it has no digest of the right size.
                let algorithm = input.choice(Checksum.Algorithm.allCases)
                expected[algorithm] = nil
                member = algorithm.rawValue + input.choice(["", "=:AAAA:", "=1", "=(:AAAA:)"])
            default:
                let algorithm = input.choice(Checksum.Algorithm.allCases)
                let digest = (0..<algorithm.size).map { _ in input.byte() }
                expected[algorithm] = Checksum(algorithm, digest)
                member = "\(algorithm.rawValue)=:\(Data(digest).base64EncodedString()):"
            }
            append(member + input.choice(["", ";a", "; b=1;c", ";d=\"x;,\"", ";e=:AA==:"]), to: &values, &input)
        }
        let field = DigestField(head(values.map { ResponseField("Repr-Digest", $0) }), "Repr-Digest")
        try requireEqual(field.digests, expected, "the digests of \(values)")
    }

    /// Adds a member to the last field, or to a new one.
    private static func append(_ member: String, to values: inout [String], _ input: inout FuzzInput) {
        let separator = input.choice([",", ", ", "\t, "])
        guard let last = values.last, input.flag() else { return values.append(member) }
        values[values.count - 1] = last + separator + member
    }

    private static let realmCharacters = Array("ab ,=\"\\;/'é日")

    static func challenge(_ bytes: [UInt8]) throws {
        var (input, values, expected) = (FuzzInput(bytes), [String](), [OfferedScheme]())
        for _ in 0...input.byte() % 5 {
            let name = input.choice(["Basic", "DIGEST", "Bearer", "negotiate", "x-1"])
            var scheme = OfferedScheme(name: name.lowercased())
            let rest =
                input.byte() % 4 == 0
                ? input.choice(["", " YWJj", " a+/b=="])
                : " " + parameters(of: &scheme, &input).joined(separator: input.choice([",", ", "]))
            append(name + rest, to: &values, &input)
            expected.append(scheme)
        }
        try requireEqual(AuthenticationField.schemes(values), expected, "the schemes of \(values)")
    }

    private static func parameters(of scheme: inout OfferedScheme, _ input: inout FuzzInput) -> [String] {
        var parameters: [String] = []
        for _ in 0...input.byte() % 3 {
            switch input.byte() % 4 {
            case 0 where scheme.realm == nil:
                let realm = input.text(of: realmCharacters, atMost: 20)
                scheme.realm = realm
                parameters.append(input.choice(["realm=", "Realm="]) + quoted(realm))
            case 1 where scheme.algorithms.isEmpty:
                let algorithm = input.choice(["MD5", "SHA-256", "SHA-256-sess"])
                scheme.algorithms = [algorithm.lowercased()]
                parameters.append("algorithm=" + (input.flag() ? quoted(algorithm) : algorithm))
            case 2 where !scheme.hasNonce:
                scheme.hasNonce = true
                parameters.append("nonce=" + quoted(input.text(of: realmCharacters, atMost: 20)))
            default:
                parameters.append(input.choice(["stale=true", "charset=\"UTF-8\"", "qop=\"auth, auth-int\"", "x=y"]))
            }
        }
        return parameters
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.map { "\\\"".contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
    }

    private static let cookieCharacters = Array("abz019!#$%&'*+-.^`|~")

    /// A cookie that the jar must keep beside the cookies of the input, unless these are for the same host.
    static func cookie(_ bytes: [UInt8], now: Int64) throws {
        let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        guard !lines.contains(where: { $0.lowercased().contains("kept.example") }) else { return }
        var input = FuzzInput(bytes)
        let name = "a" + input.text(of: cookieCharacters, atMost: 40)
        let value = "b" + input.text(of: cookieCharacters, atMost: 40)
        let fields = [
            input.choice(["kept.example\tFALSE", ".kept.example\tTRUE"]), input.choice(["/", "/a/b"]),
            input.choice(["FALSE", "TRUE"]), input.choice(["0", "\(now + 86_400)"]), name, value,
        ]
        let line = (input.flag() ? "#HttpOnly_" : "") + fields.joined(separator: "\t")
        let jar = try CookieJar()
        jar.add(lines)
        jar.add([line])
        // No line is a command that removes cookies.
        jar.add(lines)
        try require(jar.lines().contains(line), "the cookie is lost: \(line)")
    }
}
