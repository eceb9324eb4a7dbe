import Foundation

/// Compiles a source text that may use the modules of this package. Returns what the compiler prints, which is empty if
/// the text compiles without a warning.
public func diagnostics(of text: String, in folder: URL) async throws -> String {
    let source = folder.appendingPathComponent("\(UUID().uuidString).swift")
    try text.write(to: source, atomically: true, encoding: .utf8)
    let output = source.path + ".log"
    let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    let modules = tests.deletingLastPathComponent().appendingPathComponent("Modules").path
    let headers = ["CBackhaul", "CBackhaulSystem"].flatMap { module in
        ["-I", checkout.appendingPathComponent("bindings/swift/Sources/\(module)").path]
    }
    let compiler = ["swiftc", "-swift-version", "6", "-typecheck", "-I", modules] + headers + [source.path]
    _ = try await run("/bin/sh", ["-c", "output=$1; shift; exec \"$@\" >\"$output\" 2>&1", "sh", output] + compiler)
    return try String(contentsOfFile: output, encoding: .utf8)
}

/// The root of the checkout of Backhaul.
public let checkout = URL(fileURLWithPath: #filePath + "/../../../../..").standardized
