/// What answers to challenges have told a server or proxy and nothing that is kept may repeat: servers echo requests in
/// their error pages. A value without I/O; its text never shows a secret.
///
/// Found as it was sent, and nothing more: a server that turns it round or encodes it anew is not stopped here.
public struct SentSecrets: Sendable {
    /// Shorter ones stand in every text by chance, and their asterisks would tell where.
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
                // Without the scheme: "Bearer", a blank, the token (RFC 9110, section 11.4).
                if let blank = value.firstIndex(of: 0x20) { add(Array(value[blank...].drop { $0 == 0x20 })) }
            }
        }
    }

    private mutating func add(_ secret: [UInt8]) {
        if secret.count >= Self.shortest, !secrets.contains(secret) { secrets.append(secret) }
    }

    /// The bytes with asterisks in the place of secrets. `isCut`: more followed, so what stands at the end may be the
    /// start of one.
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

    /// The head without secrets in the chosen headers of `AnswerSummary`. `requested`: a URL that the host has given is
    /// its own to keep.
    public func redacted(_ head: ResponseHead, requested: String) -> ResponseHead {
        guard !secrets.isEmpty else { return head }
        var head = head
        if head.finalURL != requested { head.finalURL = redacted(head.finalURL) }
        for index in head.fields.indices {
            let field = head.fields[index]
            guard AnswerSummary.isChosen(field.name), field.text.flatMap(HTTPDate.init) == nil else { continue }
            let value = redacted(field.value)
            guard value != field.value else { continue }
            // It is not the server's tag any more, and must not be sent as one: weak tags are not.
            head.fields[index].value = field.isNamed("ETag") ? Array("W/".utf8) + value : value
        }
        return head
    }
}

extension SentSecrets: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
