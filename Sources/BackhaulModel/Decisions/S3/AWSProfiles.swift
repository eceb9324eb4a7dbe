/// The profiles in the two files of AWS (https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html).
public struct AWSProfiles: Equatable, Sendable {
    /// The settings of each section. A nested setting has the names of both: "s3.endpoint_url".
    private var sections: [String: [String: String]] = [:]

    /// - config: the text of ~/.aws/config. `credentials`: the text of ~/.aws/credentials, which has priority.
    public init(config: String, credentials: String) {
        sections = AWSProfiles.sections(of: config) { name in
            if name == "default" { return "default" }
            for kind in ["profile", "services"] where name.hasPrefix(kind) && name.dropFirst(kind.count).first == " " {
                let rest = AWSProfiles.trimmed(name.dropFirst(kind.count))
                return kind == "profile" ? rest : "services \(rest)"
            }
            return nil
        }
        for (name, settings) in AWSProfiles.sections(of: credentials, named: { $0 }) {
            sections[name, default: [:]].merge(settings) { $1 }
        }
    }

    /// The settings of a profile; nil if no file has it. The settings of its section `services` are included.
    public func profile(_ name: String) -> [String: String]? {
        guard let profile = sections[name] else { return nil }
        guard let services = profile["services"].flatMap({ sections["services \($0)"] }) else { return profile }
        return profile.merging(services.filter { $0.key.hasPrefix("s3.") }) { $1 }
    }

    private static func sections(of text: String, named name: (String) -> String?) -> [String: [String: String]] {
        var sections: [String: [String: String]] = [:]
        var section: String?
        var outer: String?
        for line in text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline) {
            let content = trimmed(line)
            if content.isEmpty || content.hasPrefix("#") || content.hasPrefix(";") { continue }
            if content.hasPrefix("[") {
                section = name(trimmed(content.dropFirst().prefix { $0 != "]" }))
                outer = nil
                continue
            }
            guard let section, let mark = content.firstIndex(of: "=") else { continue }
            let key = trimmed(content[..<mark]).lowercased()
            let value = uncommented(content[content.index(after: mark)...])
            if line.first?.isWhitespace == true {
                if let outer { sections[section, default: [:]]["\(outer).\(key)"] = value }
            } else {
                outer = value.isEmpty ? key : nil
                sections[section, default: [:]][key] = value
            }
        }
        return sections
    }

    /// A comment begins with a blank and # or ;.
    private static func uncommented(_ value: Substring) -> String {
        var end = value.endIndex
        for mark in [" #", " ;", "\t#", "\t;"] {
            if let found = value[..<end].firstOccurrence(of: mark) { end = found.lowerBound }
        }
        return trimmed(value[..<end])
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0.isWhitespace }
        let end = start.lastIndex { !$0.isWhitespace }
        return end.map { String(start[...$0]) } ?? ""
    }

    private static func trimmed(_ text: String) -> String { trimmed(text[...]) }
}
