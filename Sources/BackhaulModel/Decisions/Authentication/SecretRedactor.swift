/// Removes secrets from texts before the texts are stored. The secrets were sent to a server or proxy, which may repeat
/// them in its error pages. This type performs no I/O, and its `String(describing:)` shows no secret.
///
/// A secret is found only in the form in which it was sent. If a server reverses a secret or encodes it differently,
/// the secret is not removed.
public struct SecretRedactor: Sendable {
    /// The minimum length, in bytes, of a secret that is redacted. A shorter secret may occur by chance in ordinary
    /// text. If asterisks replaced it there, a reader could infer the secret from the text around the asterisks.
    static let shortest = 4

    private var secrets: [[UInt8]] = []

    public init() {}

    public mutating func add(_ response: ChallengeResponse) {
        switch response {
        case .refuse, .standard, .url: break
        case .credential(let user, let password):
            add(Array(password.utf8))
            add(Base64.encoded(Array("\(user):\(password)".utf8)))
        case .headers(let fields):
            for field in fields {
                let value = Array(field.value.utf8)
                add(value)
                // A value such as "Bearer TOKEN" consists of a scheme, a blank and a token (RFC 9110, section 11.4). So
                // the token is also added alone.
                if let blank = value.firstIndex(of: 0x20) { add(Array(value[blank...].drop { $0 == 0x20 })) }
            }
        }
    }

    private mutating func add(_ secret: [UInt8]) {
        if secret.count >= Self.shortest, !secrets.contains(secret) { secrets.append(secret) }
    }

    /// Returns the bytes with asterisks in place of secrets. `isCut`: the text was truncated, so its last bytes may be
    /// the start of a secret.
    public func redacted(_ bytes: [UInt8], isCut: Bool = false) -> [UInt8] {
        var kept = bytes
        for secret in secrets {
            for start in bytes.indices where bytes[start] == secret[0] {
                let rest = bytes[start...]
                let isFound =
                    rest.count >= secret.count
                    ? rest.starts(with: secret)
                    : isCut && rest.count >= Self.shortest && secret.starts(with: rest)
                guard isFound else { continue }
                for index in start..<min(start + secret.count, bytes.count) { kept[index] = 0x2A }
            }
        }
        return kept
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
