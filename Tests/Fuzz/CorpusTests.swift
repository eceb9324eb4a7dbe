import Foundation
import Testing

/// The inputs that scripts/fuzz has kept: those that reach different code, and those that once broke a property.
@Suite("Inputs of the fuzzers")
struct CorpusTests {
    private static let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")

    @Test("no input breaks a property of the target", arguments: FuzzTarget.all.filter(\.isTest))
    func corpus(of target: FuzzTarget) throws {
        let inputs = try Self.inputs(of: target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            #expect(throws: Never.self, "\(input.debugDescription)") { try target.run(Self.bytes(of: input)) }
        }
    }

    /// A file has a list of texts in JSON. Each character, up to U+00FF, is a byte.
    private static func inputs(of target: FuzzTarget) throws -> [String] {
        let file = URL(filePath: "/\(folder)/corpus/\(target.name).json")
        return try JSONDecoder().decode([String].self, from: Data(contentsOf: file))
    }

    private static func bytes(of text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }
}
