import Backhaul

/// Parses option values that are words, or numbers with units. Units such as k, M and G have the same meaning as in
/// curl's options.
///
/// A function for a setting returns nil if the option is missing, and `.some(nil)` if the option selects the default of
/// the setting. An empty value selects the default.
extension Arguments {
    /// Whether the value of the option is empty, which resets a setting to its default.
    private func isEmpty(_ name: String) -> Bool { value(name) == "" }

    /// A number of a setting. 0 selects the default, if the range includes 0.
    func setting(_ name: String, in range: ClosedRange<Int64>) throws(CommandError) -> Int?? {
        isEmpty(name) ? .some(nil) : try number(name, in: range).map { $0 == 0 ? nil : Int($0) }
    }

    /// A duration of a setting. 0 selects the default.
    func durationSetting(_ name: String, upTo limit: Double = 86_400) throws(CommandError) -> Duration?? {
        isEmpty(name) || value(name).flatMap(Double.init) == 0
            ? .some(nil) : try milliseconds(name, upTo: limit).map { .some(.milliseconds($0)) }
    }

    /// A number of bytes. In "500k", "1.5M" and "2G" the units are powers of 1,024, as in `curl --limit-rate`. In "2GB"
    /// the unit is a power of 1,000, as in data plans. 0 selects the default.
    func bytes(_ name: String) throws(CommandError) -> UInt64?? {
        guard let text = value(name) else { return nil }
        if text.isEmpty { return .some(nil) }
        guard let bytes = Arguments.bytes(text) else {
            throw .usage("--\(name) takes bytes, such as 500000, 500k, 1.5M or 2G, not '\(text)'")
        }
        return bytes == 0 ? .some(nil) : bytes
    }

    static func bytes(_ text: String) -> UInt64? {
        var digits = text.lowercased()[...]
        var base = 1024.0
        var needsUnit = false
        if digits.hasSuffix("b") {
            digits.removeLast()
            if digits.hasSuffix("i") { digits.removeLast() } else { base = 1000 }
            needsUnit = true
        }
        guard let last = digits.last, let power = Array("kmgtp").firstIndex(of: last) else {
            return needsUnit ? nil : UInt64(digits)
        }
        var factor = 1.0
        for _ in 0...power { factor *= base }
        return number(digits.dropLast(), factor)
    }

    private static func number(_ digits: Substring, _ factor: Double) -> UInt64? {
        guard isPlain(digits), let number = Double(digits) else { return nil }
        return UInt64(exactly: (number * factor).rounded())
    }

    /// A budget of a day or month. The text "0" is refused, because it could mean "no limit" or "no bytes".
    func budget(_ name: String) throws(CommandError) -> UInt64?? {
        switch value(name) {
        case nil: return nil
        case "", "none": return .some(nil)
        case "nothing": return 0
        case .some(let text):
            guard let bytes = Arguments.bytes(text), bytes > 0, bytes < UInt64.max else {
                throw .usage(
                    "--\(name) takes bytes, such as 500MB or 2G, 'none' for no limit, or 'nothing' for a budget of 0 "
                        + "bytes; not '\(text)'")
            }
            return bytes
        }
    }

    func yesOrNo(_ name: String) throws(CommandError) -> Bool?? {
        switch value(name) {
        case nil: return nil
        case "": return .some(nil)
        case "yes": return true
        case "no": return false
        case .some(let text): throw .usage("--\(name) takes 'yes' or 'no', not '\(text)'")
        }
    }

    /// Converts seconds, such as "90" or "0.5", or a duration, such as "15m", to milliseconds.
    func milliseconds(_ name: String, upTo limit: Double = 315_360_000) throws(CommandError) -> UInt64? {
        guard let text = value(name) else { return nil }
        let seconds =
            Arguments.isPlain(text[...]) ? Double(text) : TimeParser.duration(text).map { Double($0) / 1000 }
        guard let seconds, seconds > 0, seconds <= limit else {
            throw .usage("--\(name) takes seconds, such as 90 or 0.5, or a duration, such as 15m, not '\(text)'")
        }
        return max(1, UInt64((seconds * 1000).rounded()))
    }

    /// The time that is the given number of seconds from now, in Unix milliseconds.
    func futureTime(after name: String) throws(CommandError) -> Int64? {
        try milliseconds(name).map { Clock.wallMilliseconds + Int64($0) }
    }

    /// The value for the word in the option's value. `words` has each valid word with its value.
    func choice<Value>(
        _ name: String, _ words: [(word: String, value: Value?)]
    ) throws(CommandError) -> Value?? {
        guard let text = value(name) else { return nil }
        if text.isEmpty { return .some(nil) }
        guard let found = words.first(where: { $0.word.isWord(text) }) else {
            let list = words.map { "'\($0.word)'" }.joined(separator: ", ")
            throw .usage("--\(name) takes one of \(list), not '\(text)'")
        }
        return .some(found.value)
    }

    func choice<Value: Worded>(_ name: String, _: Value.Type) throws(CommandError) -> Value?? {
        try choice(name, Value.words.map { ($0.word, $0.value) })
    }

    /// The union of the sets for the words in the option's value. Commas separate the words. Without words, the default
    /// is selected.
    func set<Value: Worded & OptionSet>(_ name: String, _: Value.Type) throws(CommandError) -> Value?? {
        guard has(name) else { return nil }
        let words = all(name).flatMap { $0.split(separator: ",") }
        var set: Value?
        for word in words {
            guard let found = Value.words.first(where: { $0.word.isWord(word) }) else {
                let list = Value.words.map { "'\($0.word)'" }.joined(separator: ", ")
                throw .usage("--\(name) takes some of \(list), not '\(word)'")
            }
            if found.value.isEmpty && words.count > 1 {
                throw .usage("--\(name) has '\(word)' and other words; give \(word) alone")
            }
            set = (set ?? []).union(found.value)
        }
        return .some(set)
    }

    /// Whether the text has only digits and points. Signs, exponents and words such as "nan" are refused.
    private static func isPlain(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
