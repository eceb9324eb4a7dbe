internal import Backhaul
internal import CBackhaul
internal import Dispatch
internal import Glibc

/// Calls the kit, and throws the error that it reports.
func check(_ call: (UnsafeMutablePointer<bh_error>) -> bh_status) throws {
    var error = bh_error()
    error.struct_size = MemoryLayout<bh_error>.size
    let status = call(&error)
    guard status != 0 else { return }
    let message = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    throw BackhaulError(Status(rawValue: status), message: message, detail: error.detail)
}

/// Runs a call that waits on a thread of its own, because other tasks need Swift's few cooperative threads.
func waiting<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Swift.Result(catching: body)) }
    }
}

/// Throws if the text contains a NUL character, because C would end the text there.
func check(_ text: String, _ name: String) throws {
    if hasNUL(text) {
        throw BackhaulError(.invalidArgument, message: "\(name) contains a NUL character; remove it")
    }
}

func hasNUL(_ text: String) -> Bool { text.utf8.contains(0) }

func milliseconds(_ timeout: Duration) -> Int32 { Int32(clamping: timeout.wholeMilliseconds) }

func withOptionalText<Result>(
    _ text: String?, _ body: (UnsafePointer<CChar>?) throws -> Result
) rethrows -> Result {
    guard let text else { return try body(nil) }
    return try text.withCString(body)
}

/// Calls the body with the texts as an array of C.
func withTexts<Result>(
    _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) throws -> Result
) rethrows -> Result {
    // Unsafe: the copies live until the body has returned.
    let copies = texts.map { text in text.flatMap { strdup($0) } }
    defer { for copy in copies { free(copy) } }
    return try copies.map { UnsafePointer($0) }.withUnsafeBufferPointer { try body($0.baseAddress) }
}
