import Foundation

/// The structs and constants of include/backhaul.h. The tests compare them with the library.
struct Header {
    /// The name of each struct, and the names of its fields.
    let structs: [(name: String, fields: [String])]
    /// The types of the fields that are structs. The key has the name of the outer struct and the name of the field,
    /// such as "bh_policy.retry".
    let embedded: [String: String]
    private let text: String
    /// The names of all enumerators and of all macros that are numbers.
    let constants: [String]

    static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "include/backhaul.h").path

    init() throws {
        self.text = try String(contentsOfFile: Header.path, encoding: .utf8)
        let text = self.text.replacing(#/(?s)/\*.*?\*//#, with: "")
        structs = text.matches(of: #/(?s)typedef struct (bh_\w+) \{(.*?)\} \w+;/#).map { match in
            let fields = match.2.matches(of: #/(\w+)(\[\w+\])?;/#).map { String($0.1) }
            return (String(match.1), fields)
        }
        let names = structs.map(\.name)
        embedded = Dictionary(
            uniqueKeysWithValues: text.matches(of: #/(?s)typedef struct (bh_\w+) \{(.*?)\} \w+;/#)
                .flatMap { match in
                    match.2.matches(of: #/(?m)^ +(bh_\w+) (\w+);/#).filter { names.contains(String($0.1)) }.map {
                        ("\(match.1).\($0.2)", String($0.1))
                    }
                })
        let statuses = text.matches(of: #/X\((\w+), \d+,/#).map { "BH_\($0.1)" }
        let items = text.matches(of: #/X\((\w+), \w+, bh_\w+, \d+\)/#).map { "BH_ITEM_\($0.1)" }
        let enumerators = text.matches(of: #/(?m)(BH_\w+) = -?\w/#).map { String($0.1) }
        let macros = text.matches(of: #/(?m)^#define (BH_\w+) +[(\-]*(?:\d|BH_VERSION)/#).map { String($0.1) }
        constants = statuses + items + enumerators + macros
    }

    /// Returns the fields of a struct. A field that is a struct is replaced by the fields of this struct, such as
    /// "retry.first_delay_ms".
    func leaves(of name: String) -> [String] {
        let fields = structs.first { $0.name == name }?.fields ?? []
        return fields.flatMap { field in
            embedded["\(name).\(field)"].map { part in leaves(of: part).map { "\(field).\($0)" } } ?? [field]
        }
    }

    /// Returns the comment that follows a field of a struct, in one line. `path` may lead into an embedded struct, such
    /// as "retry.first_delay_ms". Returns an empty text if there is no comment.
    func comment(of path: String, in type: String) -> String {
        let (field, rest) = (path.prefix { $0 != "." }, path.drop { $0 != "." }.dropFirst())
        if !rest.isEmpty { return comment(of: String(rest), in: embedded["\(type).\(field)"] ?? "") }
        let comment =
            text.components(separatedBy: "typedef struct \(type) {").last?
            .components(separatedBy: "} \(type);").first?.components(separatedBy: " \(field);").last ?? ""
        guard let start = comment.firstMatch(of: #/\A *\/\*(?s)(.*?)\*\//#) else { return "" }
        return start.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the document that the library's function bh_abi_json must return: the sizes and offsets in the header's
    /// structs, and the constants. A C compiler computes this document from the header.
    func compiledManifest() throws -> Manifest {
        var program = """
            #include <inttypes.h>
            #include <stdio.h>
            #include "\(Header.path)"
            int main(void) {
                printf("{\\"version\\":\\"%d.%d.%d\\",\\"structs\\":{",
                       BH_VERSION_MAJOR, BH_VERSION_MINOR, BH_VERSION_PATCH);

            """
        for (index, layout) in structs.enumerated() {
            program += "printf(\"\(index > 0 ? "," : "")\\\"\(layout.name)\\\":"
            program += "{\\\"size\\\":%zu,\\\"fields\\\":{\", sizeof(\(layout.name)));\n"
            for (index, field) in layout.fields.enumerated() {
                program += "printf(\"\(index > 0 ? "," : "")\\\"\(field)\\\":%zu\", "
                program += "offsetof(\(layout.name), \(field)));\n"
            }
            program += "printf(\"}}\");\n"
        }
        program += "printf(\"},\\\"constants\\\":{\");\n"
        for (index, name) in constants.enumerated() {
            program += "printf(\"\(index > 0 ? "," : "")\\\"\(name)\\\":\");\n"
            // A constant that does not fit into an int64_t is unsigned in the header.
            program += "if ((\(name)) > 0) printf(\"%\" PRIu64, (uint64_t)(\(name)));"
            program += " else printf(\"%\" PRId64, (int64_t)(\(name)));\n"
        }
        program += "printf(\"}}\");\nreturn 0;\n}\n"
        return try JSONDecoder().decode(Manifest.self, from: Header.output(of: program))
    }

    private static func output(of program: String) throws -> Data {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "layout.c")
        try Data(program.utf8).write(to: source)
        let binary = folder.appending(path: "layout").path
        _ = try run("/usr/bin/env", ["clang", "-std=c11", "-Wall", "-Werror", "-o", binary, source.path])
        return try run(binary, [])
    }

    private static func run(_ path: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return data
    }
}

/// The document that bh_abi_json returns.
struct Manifest: Decodable, Equatable {
    struct Layout: Decodable, Equatable {
        var size: Int
        var fields: [String: Int]
    }
    var version: String
    var structs: [String: Layout]
    var constants: [String: Decimal]
}
