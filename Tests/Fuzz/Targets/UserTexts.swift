import Backhaul
import CLinux
import Glibc

@testable import BackhaulModel
@testable import backhaul

/// Texts that a user, or another program of the user, has written.
enum UserTexts {
    @Sendable static func quietHours(_ bytes: [UInt8]) throws {
        guard let hours = QuietHours(String(decoding: bytes, as: UTF8.self)) else { return }
        try requireEqual(QuietHours(hours.text), hours, "the hours, written and read")
        for span in hours.spans {
            try require(span.begin < 1_440 && span.end <= 1_440 && (1...0x7F).contains(span.days), "the span \(span)")
        }
        _ = hours.coversEverything
    }

    @Sendable static func statusList(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        if let types = MediaRanges(text) { _ = types.contain(text) }
        guard let list = StatusList(text) else { return }
        try requireEqual(StatusList(list.text), list, "the statuses, written and read")
    }

    @Sendable static func inputList(_ bytes: [UInt8]) throws {
        try WrittenLists.inputList(bytes)
        let list: InputList
        do throws(CommandError) { list = try withFile(bytes, InputList.init) } catch { return try checkUsage(error) }
        let lines = bytes.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }.count
        try require(list.items.count + list.problems.count <= lines, "more items and problems than lines")
        for item in list.items {
            try require(!item.url.isEmpty, "an item without a URL")
            if case .sha256(let digits)? = item.checksum { try requireEqual(digits.utf8.count, 64, "digits") }
            if case .sha512(let digits)? = item.checksum { try requireEqual(digits.utf8.count, 128, "digits") }
        }
    }

    @Sendable static func json(_ bytes: [UInt8]) throws {
        let value: JSON
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(CommandError) { value = try JSONParser.parse(text) } catch { return try checkUsage(error) }
        var document = JSONDocument(Array(text.utf8))
        try checkPlaces(in: value, &document)
        try require(value.text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "control characters: \(value.text)")
        try requireEqual(try JSONParser.parse(value.text).text, value.text, "the value, written and read")
    }

    /// The library's reader of JSON finds each text and each number at its place.
    private static func checkPlaces(
        in value: JSON, _ document: inout JSONDocument, at tokens: [String] = []
    ) throws {
        let found = document.value(at: tokens)
        switch value {
        case .null, .bool: try requireEqual(found, nil, "the word at \(tokens)")
        case .integer(let number): try requireEqual(found.flatMap { Int64($0) }, number, "the number at \(tokens)")
        case .unsigned(let number): try requireEqual(found.flatMap { UInt64($0) }, number, "the number at \(tokens)")
        case .string(let text): try requireEqual(found, text, "the text at \(tokens)")
        case .array(let items):
            try requireEqual(found, nil, "the array at \(tokens)")
            for (index, item) in items.enumerated() { try checkPlaces(in: item, &document, at: tokens + ["\(index)"]) }
        case .object(let members):
            try requireEqual(found, nil, "the object at \(tokens)")
            for (name, member) in members { try checkPlaces(in: member, &document, at: tokens + [name]) }
        }
    }

    @Sendable static func checksums(_ bytes: [UInt8]) throws {
        try WrittenLists.checksums(bytes)
        do throws(CommandError) {
            let list = try ChecksumList(bytes, name: "list")
            switch try list.checksum(of: "https://example.org/pool/a.iso", file: "b") {
            case .sha256(let digits): guard digits.utf8.count == 64 else { throw .usage("") }
            case .sha512(let digits): guard digits.utf8.count == 128 else { throw .usage("") }
            }
        } catch {
            try checkUsage(error)
        }
    }

    @Sendable static func netrc(_ bytes: [UInt8]) throws {
        let file: NetrcFile
        do throws(CommandError) {
            file = try withFile(bytes) { (path) throws(CommandError) in try NetrcFile(path, isOptional: false) }
        } catch {
            return try checkUsage(error)
        }
        for host in ["example.org", "other.example.org"] {
            guard let found = file.credential(for: host) else { continue }
            let text = "machine \(quoted(host)) login \(quoted(found.user)) password \(quoted(found.password))"
            let again = try withFile(Array(text.utf8)) { (path) throws(CommandError) in
                try NetrcFile(path, isOptional: false).credential(for: host)
            }
            try requireEqual(again?.user, found.user, "the user, written and read")
            try requireEqual(again?.password, found.password, "the password, written and read")
        }
    }

    private static func quoted(_ value: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
        return "\"" + value.unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + "\""
    }

    /// The texts of AWS's files config and credentials are separated by NUL.
    @Sendable static func awsProfiles(_ bytes: [UInt8]) throws {
        let texts = FuzzInput(bytes).parts().map { String(decoding: $0, as: UTF8.self) }
        let (config, credentials) = (texts[0], texts.count > 1 ? texts[1] : "")
        let profiles = AWSProfiles(config: config, credentials: credentials)
        let secrets = AWSProfiles(config: "", credentials: credentials)
        for name in ["default", "a"] {
            guard let settings = profiles.profile(name) else { continue }
            let text = "[\(name)]\n" + settings.map { awsLine($0, $1) }.joined(separator: "\n")
            let again = AWSProfiles(config: "", credentials: text).profile(name)
            try requireEqual(again, settings, "the profile \(name), written and read")
            // A section `services` has priority for the settings of S3.
            for (key, value) in secrets.profile(name) ?? [:] where !key.hasPrefix("s3.") {
                try requireEqual(settings[key], value, "the setting \(key), which the file of credentials has")
            }
        }
    }

    /// A tab keeps a combining mark at the start of a value apart from the sign. A value that begins with the sign of a
    /// comment is only a value if no blank precedes it.
    private static func awsLine(_ key: String, _ value: String) -> String {
        let first = value.unicodeScalars.first
        let gap = first == "#" || first == ";" ? "" : "\t"
        return key + (key.isEmpty ? "" : "\t") + "=" + gap + value
    }

    @Sendable static func configuration(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(CommandError) {
            _ = try ConfigurationFile(text, path: "/config", secrecy: bytes.first == 0 ? "others may read it" : nil)
        } catch {
            guard case .usage(let problems) = error else { throw Violation(description: "\(error)") }
            for line in problems.split(separator: "\n") {
                try require(line.hasPrefix("/config:"), "a problem without its place: \(line)")
            }
        }
    }

    /// Only mistakes of the user are expected, and a message about each.
    private static func checkUsage(_ error: CommandError) throws {
        guard case .usage(let message) = error, !message.isEmpty else { throw Violation(description: "\(error)") }
    }

    /// Passes the path of a file with the bytes, which only its owner may read.
    static func withFile<Result>(
        _ bytes: [UInt8], _ body: (String) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        var path = Array("/dev/shm/backhaul-fuzz-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        unlink(path)
        defer { close(file) }
        guard file >= 0, write(file, bytes, bytes.count) == bytes.count else { fatalError("/dev/shm has no room") }
        return try body("/proc/self/fd/\(file)")
    }
}
