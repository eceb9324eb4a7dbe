import Foundation

@testable import BackhaulModel

/// Secrets that a server repeats in its response.
enum Redactions {
    /// Larger texts take long with long secrets.
    private static let longest = 8_192

    /// The bytes are secrets, and a text that repeats some of them.
    @Sendable static func redact(_ bytes: [UInt8]) throws {
        var (input, redactor) = (FuzzInput(bytes), SecretRedactor())
        var (secrets, messageSecrets) = ([[UInt8]](), [[UInt8]]())
        for _ in 0..<input.byte() % 5 {
            let value = input.text()
            let parts = [Array(value.utf8), Array(value.utf8.drop { $0 != 0x20 }.drop { $0 == 0x20 })]
            switch input.byte() % 3 {
            case 0:
                redactor.add(.credential(user: "a", password: value))
                secrets += [parts[0], Array(Data("a:\(value)".utf8).base64EncodedString().utf8)]
            case 1:
                redactor.add(.headers([HeaderField("X-A", value)]))
                secrets += parts
            default:
                redactor.add(requestFields: [HeaderField("X-Token", value), HeaderField("Accept", "text/html")])
                messageSecrets += parts
            }
        }
        secrets = secrets.filter { $0.count >= SecretRedactor.shortest }
        messageSecrets = secrets + messageSecrets.filter { $0.count >= SecretRedactor.shortest }
        let isCut = input.flag()
        let text = text(&input, messageSecrets)
        try check(redactor.redacted(text, isCut: isCut), of: text, without: secrets, isCut: isCut)
        try check(redactor.redactedMessage(text, isCut: isCut), of: text, without: messageSecrets, isCut: isCut)
    }

    private static func text(_ input: inout FuzzInput, _ secrets: [[UInt8]]) -> [UInt8] {
        var text: [UInt8] = []
        while !input.isEmpty, text.count < longest {
            let choice = input.byte()
            if choice % 4 == 0, !secrets.isEmpty {
                text += secrets[Int(choice / 4) % secrets.count]
            } else if choice % 4 == 1, !secrets.isEmpty {
                text += secrets[Int(choice / 4) % secrets.count].prefix(Int(input.byte()))
            } else {
                text.append(input.byte())
            }
        }
        return text
    }

    private static func check(
        _ redacted: [UInt8], of text: [UInt8], without secrets: [[UInt8]], isCut: Bool
    ) throws {
        try requireEqual(redacted, naive(text, secrets, isCut: isCut), "the redacted text")
        for secret in secrets where !secret.contains(UInt8(ascii: "*")) {
            try require(occurrences(of: secret, in: redacted).isEmpty, "the secret \(secret) is in the text")
        }
    }

    private static func naive(_ text: [UInt8], _ secrets: [[UInt8]], isCut: Bool) -> [UInt8] {
        var isSecret = [Bool](repeating: false, count: text.count)
        for secret in secrets {
            for start in occurrences(of: secret, in: text) {
                for index in start..<start + secret.count { isSecret[index] = true }
            }
            // A text that was cut may end with the start of a secret.
            guard isCut else { continue }
            for count in SecretRedactor.shortest..<max(secret.count, SecretRedactor.shortest)
            where count <= text.count && text.suffix(count).elementsEqual(secret.prefix(count)) {
                for index in text.count - count..<text.count { isSecret[index] = true }
            }
        }
        return zip(text, isSecret).map { byte, isSecret in isSecret ? UInt8(ascii: "*") : byte }
    }

    /// Where the secret begins, also inside of an earlier occurrence.
    private static func occurrences(of secret: [UInt8], in text: [UInt8]) -> [Int] {
        let data = Data(text)
        var (found, start) = ([Int](), 0)
        while start < text.count, let range = data.range(of: Data(secret), in: start..<text.count) {
            found.append(range.lowerBound)
            start = range.lowerBound + 1
        }
        return found
    }
}
