import Backhaul

/// One URL of a command, and what a list says about its file.
struct DownloadItem {
    var url: String
    /// The position in a list, such as "list:3". Nil for an argument.
    var place: String?
    var output: OutputTemplate?
    var directory: String?
    var checksum: Checksum?
    var size: UInt64?
    var headers: [Header] = []
}

extension DownloadItem {
    private static let keys = ["url", "output", "directory", "checksum", "size", "headers"]

    /// Reads a line of JSON, such as {"url": "https://example.org/a", "output": "b"}.
    init(json text: String, place: String) throws(CommandError) {
        guard case .object(let members) = try JSONParser.parse(text) else {
            throw .usage("the line is no JSON object, such as {\"url\": \"https://example.org/a\"}")
        }
        self.init(url: "", place: place)
        for (name, value) in members {
            if case .null = value, DownloadItem.keys.contains(name) { continue }
            switch (name, value) {
            case ("url", .string(let text)): url = text
            case ("output", .string(let text)): output = try OutputTemplate(text, option: "output")
            case ("directory", .string(let text)): directory = text
            case ("checksum", .string(let text)): checksum = try Checksum(text, option: "checksum")
            case ("size", .unsigned(let number)) where number > 0: size = number
            case ("headers", .object(let fields)): headers = try DownloadItem.headers(fields)
            default:
                guard DownloadItem.keys.contains(name) else {
                    throw .usage(
                        "there is no key '\(name)'" + Suggestion.phrase(for: name, among: DownloadItem.keys))
                }
                throw .usage(
                    "\"\(name)\" takes "
                        + (name == "size" ? "a positive number" : name == "headers" ? "an object" : "a text"))
            }
        }
        if url.isEmpty { throw .usage("the line has no \"url\"") }
    }

    private static func headers(_ fields: [(String, JSON)]) throws(CommandError) -> [Header] {
        var headers: [Header] = []
        for (name, value) in fields {
            guard case .string(let text) = value else { throw .usage("the header \"\(name)\" takes a text") }
            headers.append(Header(name: name, value: text))
        }
        return headers
    }

    /// Applies an indented line below a URL, such as "out=b", as in aria2's lists.
    mutating func apply(_ option: String, _ value: String) throws(CommandError) {
        switch option {
        case "out": output = try OutputTemplate(value, option: "out")
        case "dir": directory = value
        case "checksum": checksum = try Checksum(value, option: "checksum")
        case "header": headers.append(try InputFile.header(value))
        default:
            throw .usage(
                "there is no option '\(option)'"
                    + Suggestion.phrase(for: option, among: ["out", "dir", "checksum", "header"]))
        }
    }
}

extension Checksum {
    /// Parses a checksum, which users and other programs write in several forms, such as "sha-256:…" or "SHA256=…". For
    /// digits without a name, the number of digits selects the algorithm.
    /// - Parameter option: The option for messages.
    init(_ text: String, option: String) throws(CommandError) {
        let lower = text.lowercased()
        for (name, digits, checksum) in [("sha-256", 64, Checksum.sha256), ("sha-512", 128, Checksum.sha512)] {
            if let found = Checksum(digits: lower) {
                self = found
                return
            }
            for prefix in [name, name.replacing("-", with: "")] {
                for separator in [":", "="] where lower.hasPrefix(prefix + separator) {
                    let digest = lower.dropFirst(prefix.count + 1)
                    guard digest.utf8.count == digits, digest.allSatisfy(\.isHexDigit) else {
                        throw .usage("\(option) of \(name) takes \(digits) hexadecimal digits")
                    }
                    self = checksum(String(digest))
                    return
                }
            }
        }
        throw .usage("\(option) takes sha-256: and 64 hexadecimal digits, or sha-512: and 128")
    }

    /// The checksum with these hexadecimal digits. Nil if it is neither SHA-256 nor SHA-512.
    init?(digits: String) {
        guard digits.allSatisfy(\.isHexDigit) else { return nil }
        switch digits.utf8.count {
        case 64: self = .sha256(digits.lowercased())
        case 128: self = .sha512(digits.lowercased())
        default: return nil
        }
    }
}
