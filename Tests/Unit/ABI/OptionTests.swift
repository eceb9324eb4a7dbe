import BackhaulModel
import CBackhaul
import Foundation
import Testing

@testable import BackhaulABI

/// An option of the model, and a content for it that is neither the default nor 0.
struct ListedOption: CustomTestStringConvertible, Sendable {
    let name: String
    let kind: FieldKind
    let range: ClosedRange<UInt64>?
    /// The content in a new session; nil: no value.
    let standard: FieldContent?
    let sample: FieldContent?

    var testDescription: String { name }

    static let ofSession = list { SessionConfiguration(identifier: "").visitedFields(with: &$0) }
    static let ofTask = list {
        var policy = TaskPolicy()
        policy.visitFields(with: &$0)
        policy.constraints.visitFields(with: &$0)
    }

    private static func list(_ visit: (inout Lister) -> Void) -> [ListedOption] {
        var lister = Lister()
        visit(&lister)
        return lister.options
    }
}

/// Lists the options that it visits, with their contents. The headers of a session are not listed.
struct Lister: FieldVisitor {
    typealias Problem = Never

    private(set) var options: [ListedOption] = []

    mutating func visit<Value>(_ value: inout Value, _ option: Option<Value>) {
        var optional: Value? = value
        visit(&optional, option)
    }

    mutating func visit<Value>(_ value: inout Value?, _ option: Option<Value>) {
        let texts = ["418", "22:00-06:30", "any"].map(FieldContent.text)
        let numbers = [value.map(Self.successor) ?? (option.range?.lowerBound ?? 6) + 1, 1, 2, 13, 0].map(
            FieldContent.integer)
        let sample = (texts + numbers).first { Value($0) != nil && Value($0) != value && Value($0)?.content == $0 }
        options.append(
            ListedOption(
                name: option.name, kind: Value.kind, range: option.range, standard: value?.content, sample: sample))
    }

    func visit(_ headers: inout [HeaderField], _ name: String) {}

    private static func successor<Value: FieldValue>(_ value: Value) -> UInt64 {
        if case .integer(let number) = value.content { number &+ 1 } else { 0 }
    }
}

extension SessionConfiguration {
    fileprivate func visitedFields<Visitor: FieldVisitor>(
        with visitor: inout Visitor
    ) where Visitor.Problem == Never {
        var copy = self
        copy.visitFields(with: &visitor)
    }

    fileprivate var contents: [String: FieldContent] {
        var lister = Lister()
        visitedFields(with: &lister)
        return Dictionary(
            uniqueKeysWithValues: lister.options.compactMap { option in
                option.standard.map { (option.name, $0) }
            })
    }
}

/// The options of the model have the names, defaults and ranges of the fields in include/backhaul.h.
@Suite("The options of the model match the header")
struct OptionTests {
    private let header: Header
    private let manifest: Manifest

    init() throws {
        header = try Header()
        manifest = try JSONDecoder().decode(Manifest.self, from: Data(String(cString: bh_abi_json()).utf8))
    }

    @Test("each field of a configuration and of a policy in the header is an option of the model, with the same name")
    func names() {
        let others = ["struct_size", "identifier", "headers", "header_count"]
        let fields = { (type: String) in
            header.leaves(of: type).filter { !$0.contains("reserved") && !others.contains($0) }.sorted()
        }
        #expect(ListedOption.ofSession.map(\.name).sorted() == fields("bh_session_configuration"))
        #expect(ListedOption.ofTask.map(\.name).sorted() == fields("bh_policy"))
    }

    @Test("only the options that have a property of their own in TransferPolicy have no default")
    func withoutDefault() {
        var lister = Lister()
        var policy = TaskPolicy.standard
        policy.visitFields(with: &lister)
        #expect(
            lister.options.filter { $0.standard == nil }.map(\.name)
                == [
                    "retry.maximum_attempts", "rules.maximum_size", "rules.accepted_types", "rules.s3_endpoint",
                    "rules.s3_region", "rules.s3_profile", "rules.s3_credential_command", "rules.s3_path_style",
                    "bytes_per_second",
                ])
    }

    @Test(
        "each field of a configuration is read into the option of its name, and written back",
        arguments: ListedOption.ofSession)
    func exchange(option: ListedOption) throws {
        let sample = try #require(option.sample)
        let before = SessionConfiguration(identifier: "").contents
        var given = bh_session_configuration()
        let size = try put(sample, of: option, into: &given)

        var read = SessionConfiguration(identifier: "")
        try FieldExchange.read { (exchange) throws(Failure) in try exchange.fields(&given, &read) }
        let changed = read.contents.filter { before[$0.key] != $0.value }
        #expect(changed == [option.name: sample])

        var written = bh_session_configuration()
        var arena = Arena()
        FieldExchange.write(into: &arena) { (exchange) throws(Failure) in try exchange.fields(&written, &read) }
        let offset = try offset(of: option.name)
        if case .text(let text) = sample {
            let pointer = withUnsafeBytes(of: &written) {
                $0.load(fromByteOffset: offset, as: UnsafePointer<CChar>.self)
            }
            #expect(String(cString: pointer) == text)
        } else {
            #expect(bytes(of: &written, offset, size) == bytes(of: &given, offset, size))
        }
    }

    /// Sets the field of the struct that has the option's name. Returns the size of the field.
    private func put(
        _ content: FieldContent, of option: ListedOption, into given: inout bh_session_configuration
    ) throws -> Int {
        let offset = try offset(of: option.name)
        return withUnsafeMutableBytes(of: &given) { bytes in
            switch content {
            case .text(let text):
                // The few bytes of the copy are not freed.
                bytes.storeBytes(of: UnsafePointer(strdup(text)), toByteOffset: offset, as: UnsafePointer<CChar>?.self)
                return MemoryLayout<UnsafePointer<CChar>>.size
            case .integer(let number):
                switch option.kind {
                case .number(bytes: 8):
                    bytes.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
                    return 8
                case .flag:
                    let choice = Int32(number == 0 ? BH_NO : BH_YES)
                    bytes.storeBytes(of: choice, toByteOffset: offset, as: Int32.self)
                default: bytes.storeBytes(of: UInt32(number), toByteOffset: offset, as: UInt32.self)
                }
                return 4
            }
        }
    }

    private func bytes(of given: inout bh_session_configuration, _ offset: Int, _ size: Int) -> [UInt8] {
        withUnsafeBytes(of: &given) { Array($0[offset..<offset + size]) }
    }

    /// The offset of a field, which may be in an embedded struct.
    private func offset(of path: String) throws -> Int {
        var (type, offset) = ("bh_session_configuration", 0)
        for field in path.split(separator: ".").map(String.init) {
            offset += try #require(manifest.structs[type]?.fields[field])
            type = header.embedded["\(type).\(field)"] ?? ""
        }
        return offset
    }

    @Test(
        "the header states the default and the limit of each option that is a number",
        arguments: ListedOption.ofSession)
    func sentence(option: ListedOption) {
        let sentence = header.comment(of: option.name, in: "bh_session_configuration")
        guard case .number = option.kind, !sentence.hasPrefix("as ") else { return }
        let digits = { (number: UInt64) in number.formatted(.number.locale(Locale(identifier: "en_US"))) }
        if case .integer(let standard) = option.standard, standard > 0 {
            #expect(sentence.contains("default \(digits(standard))"))
        }
        if let limit = option.range?.upperBound, limit != UInt32.max { #expect(sentence.contains(digits(limit))) }
    }

    @Test("docs/ states the defaults and the largest values of the options")
    func documents() throws {
        let docs = URL(filePath: Header.path).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs")
        let digits = { (number: UInt64) in number.formatted(.number.locale(Locale(identifier: "en_US"))) }
        var stated: Set<String> = []
        func check(_ name: Substring, default standard: Substring, atMost limit: Substring? = nil) throws {
            let option = try #require(ListedOption.ofSession.first { $0.name == name }, "\(name)")
            guard case .integer(let number) = option.standard else { return }
            #expect(standard == digits(number), "the default of \(name)")
            if let limit { #expect(limit == option.range.map { digits($0.upperBound) } ?? "", "the range of \(name)") }
            stated.insert(option.name)
        }
        for page in try FileManager.default.contentsOfDirectory(at: docs, includingPropertiesForKeys: nil)
        where page.pathExtension == "md" {
            let text = try String(contentsOf: page, encoding: .utf8)
            // A row of the table of limits, and a sentence such as "`history_limit` tasks (1,000 by default)".
            for row in text.matches(of: #/\| `(\w+)` \| a session \| (\S+) \| (\S+) \|/#) {
                try check(row.1, default: row.2, atMost: row.3)
            }
            for sentence in text.matches(of: #/`([\w.]+)`[^`(]*\(([\d,]+) by\s+default\)/#) {
                try check(sentence.1, default: sentence.2)
            }
        }
        #expect(stated.isSuperset(of: ["maximum_running_tasks", "connections_per_origin", "history_limit"]))
    }
}
