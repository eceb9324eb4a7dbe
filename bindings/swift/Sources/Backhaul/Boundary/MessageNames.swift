/// Returns a message of the library with the names of this package instead of the names of the C header.
///
/// The command line is built with its own words for these names, so there the message does not change.
func withSwiftNames(_ message: String) -> String {
    #if KEEPS_HEADER_NAMES
    return message
    #else
    guard ["_", "NULL", "options."].contains(where: { message.contains($0) }) else { return message }
    var rest = message[...]
    var result = ""
    while let first = rest.first {
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        rest = rest.dropFirst(max(1, word.count))
        // A name that is part of a path is the name of a file.
        let isName = result.isEmpty || result.last == " " || result.last == "("
        result += word.isEmpty ? String(first) : isName && rest.first != "/" ? swiftName(word) : String(word)
        // In C, the unit is in the field's name. In Swift, the property is a Duration.
        let isDuration = isName && word.hasSuffix("_ms") && !result.hasSuffix("Milliseconds")
        if isDuration && !message.contains(" ms") { result += " in milliseconds" }
    }
    return result
    #endif
}

/// The arguments of `Application.open` that are fields of a struct in the C header.
private let openArguments: Set = ["identifier", "store", "hosting", "daemon", "launch"]

/// Returns the Swift name of a field or constant, such as `retry.firstDelay` for `retry.first_delay_ms`. The word may
/// end with the point of a sentence.
private func swiftName(_ word: Substring) -> String {
    var parts = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    // `options.daemon` is an argument of `Application.open`. Another word with this start is the name of a host.
    if parts.first == "options", parts.count > 1, openArguments.contains(parts[1]) { parts.removeFirst() }
    return parts.map { headerNames[$0] ?? $0 }.joined(separator: ".")
}
