/// Removes secrets from texts before the texts are stored. The secrets were sent to a server or proxy, which may repeat
/// them in its error pages. This type performs no I/O, and its `String(describing:)` shows no secret.
///
/// A secret is found only in the form in which it was sent. If a server reverses a secret or encodes it differently,
/// the secret is not removed.
public struct SecretRedactor: Sendable {
    /// The minimum length, in bytes, of a secret that is redacted. A shorter secret may occur by chance in ordinary
    /// text. If asterisks replaced it there, a reader could infer the secret from the text around the asterisks.
    static let shortest = 4

    /// The minimum length of a value in a query. Shorter values are words such as "true" in most cases.
    static let shortestInQuery = 8

    /// The most values of one query, and the most secrets of redirects' targets.
    static let largestQuery = 64, mostInMessages = 256

    private var secrets: [[UInt8]] = []
    /// Secrets that are removed only from texts for humans. Fields such as Content-Disposition may repeat values of a
    /// query, and programs need these fields.
    private var messageSecrets: [[UInt8]] = []

    public init() {}

    public mutating func add(_ response: ChallengeResponse) {
        switch response {
        case .refuse, .standard, .url: break
        case .credential(let user, let password):
            add(Array(password.utf8))
            add(Base64.encoded(Array("\(user):\(password)".utf8)))
        case .headers(let fields):
            for field in fields { for secret in Self.secrets(in: field) { add(secret) } }
        }
    }

    /// Adds the secrets in the fields of the host's request.
    public mutating func add(requestFields fields: [HeaderField]) {
        for field in fields where Self.isSecret(field) {
            for secret in Self.secrets(in: field) where secret.count >= Self.shortest { addToMessages(secret) }
        }
    }

    /// Adds the values in the query of a redirect's target. Such a URL may be a signed link, which is valid without a
    /// password. Values in the URL of the host's own request are not added.
    public mutating func add(redirectTarget url: String, requested: String) {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return }
        // A server chooses these values, so their number is limited.
        for part in url.utf8[mark...].split(whereSeparator: { "?&;#".utf8.contains($0) }).suffix(Self.largestQuery) {
            let value = part.firstIndex(of: UInt8(ascii: "=")).map { part[part.index(after: $0)...] } ?? part
            guard value.count >= Self.shortestInQuery, messageSecrets.count < Self.mostInMessages,
                !requested.has(String(Substring(value)))
            else { continue }
            addToMessages(Array(value))
            if let decoded = PercentCoding.decoded(value), decoded.count >= Self.shortestInQuery {
                addToMessages(decoded)
            }
        }
    }

    /// Whether a field of this name is likely to have a secret.
    private static func isSecret(_ field: HeaderField) -> Bool { isSecret(field: field.name) }

    /// The same, for the name alone.
    public static func isSecret(field name: String) -> Bool {
        let name = name.lowercased()
        return ["authorization", "cookie", "key", "token", "secret", "password"].contains { name.has($0) }
    }

    /// The value of the field. A value such as "Bearer TOKEN" consists of a scheme, a blank and a token (RFC 9110,
    /// section 11.4), so the token is also a secret alone.
    private static func secrets(in field: HeaderField) -> [[UInt8]] {
        let value = Array(field.value.utf8)
        guard let blank = value.firstIndex(of: 0x20) else { return [value] }
        return [value, Array(value[blank...].drop { $0 == 0x20 })]
    }

    private mutating func add(_ secret: [UInt8]) {
        if secret.count >= Self.shortest, !secrets.contains(secret) { secrets.append(secret) }
    }

    private mutating func addToMessages(_ secret: [UInt8]) {
        if !messageSecrets.contains(secret) { messageSecrets.append(secret) }
    }

    /// Returns the bytes with asterisks in place of secrets. `isCut`: the text was truncated, so its last bytes may be
    /// the start of a secret.
    public func redacted(_ bytes: [UInt8], isCut: Bool = false) -> [UInt8] {
        Self.redacted(bytes, secrets, isCut: isCut)
    }

    /// Returns the start of a response's body, or a message, that only humans read.
    public func redactedMessage(_ bytes: [UInt8], isCut: Bool = false) -> [UInt8] {
        Self.redacted(bytes, secrets + messageSecrets, isCut: isCut)
    }

    public func redactedMessage(_ text: String) -> String {
        String(decoding: redactedMessage(Array(text.utf8)), as: UTF8.self)
    }

    private static func redacted(_ bytes: [UInt8], _ secrets: [[UInt8]], isCut: Bool) -> [UInt8] {
        var kept = bytes
        for secret in secrets { redact(secret, in: bytes, isCut: isCut, &kept) }
        return kept
    }

    /// Finds the secret with the algorithm of Knuth, Morris and Pratt. A server chooses the bytes, and with redirects
    /// also the secrets. So the time must not be the product of both sizes.
    private static func redact(_ secret: [UInt8], in bytes: [UInt8], isCut: Bool, _ kept: inout [UInt8]) {
        let borders = borders(of: secret)
        var matched = 0
        var redactedEnd = 0
        for (index, byte) in bytes.enumerated() {
            matched = extended(matched, by: byte, secret, borders)
            guard matched == secret.count else { continue }
            for position in max(redactedEnd, index + 1 - matched)...index { kept[position] = 0x2A }
            redactedEnd = index + 1
        }
        guard isCut, matched >= shortest else { return }
        for position in (bytes.count - matched)..<bytes.count { kept[position] = 0x2A }
    }

    /// For each start of the secret: the size of the longest shorter start with which it ends.
    private static func borders(of secret: [UInt8]) -> [Int] {
        var borders = [0]
        for byte in secret.dropFirst() {
            borders.append(extended(borders[borders.count - 1], by: byte, secret, borders))
        }
        return borders
    }

    /// The size of the longest start of the secret with which the text ends after one more byte. `matched`: this size
    /// before the byte.
    private static func extended(_ matched: Int, by byte: UInt8, _ secret: [UInt8], _ borders: [Int]) -> Int {
        var matched = matched
        while matched == secret.count || secret[matched] != byte {
            guard matched > 0 else { return 0 }
            matched = borders[matched - 1]
        }
        return matched + 1
    }

    public func redacted(_ text: String) -> String {
        secrets.isEmpty ? text : String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
    }

    /// Returns the head with the secrets redacted in its final URL and in the headers that are needed most
    /// (`ResponseSummary.chosen`). `requested`: the URL that the host has given. If the final URL is the same, it is
    /// not redacted, because the host knows it.
    public func redacted(_ head: ResponseHead, requested: String) -> ResponseHead {
        guard !secrets.isEmpty else { return head }
        var head = head
        if head.finalURL != requested { head.finalURL = redacted(head.finalURL) }
        for index in head.fields.indices {
            let field = head.fields[index]
            guard ResponseSummary.isChosen(field), field.text.flatMap(IMFFixdate.seconds) == nil else { continue }
            let value = redacted(field.value)
            guard value != field.value else { continue }
            // A redacted tag is not the server's tag any more. It is marked as weak, so no later attempt sends it in
            // If-Range to continue the file.
            head.fields[index].value = field.isNamed("ETag") ? Array("W/".utf8) + value : value
        }
        return head
    }
}

extension SecretRedactor: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
