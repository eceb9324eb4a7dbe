import CBackhaul

/// Parses option values that are words, or numbers with units. Units such as k, M and G have the same meaning as in
/// curl's options. For an option that sets a field of a C struct, an empty value means 0, which is the default of the
/// field.
extension Arguments {
    /// Whether the value of the option is empty, which resets a setting to its default.
    private func isEmpty(_ name: String) -> Bool { value(name) == "" }

    /// A number of a setting. An empty value is 0, even if the range does not include 0.
    func setting(_ name: String, in range: ClosedRange<Int64>) throws(CommandError) -> UInt32? {
        isEmpty(name) ? 0 : try number(name, in: range).map { UInt32($0) }
    }

    /// A duration of a setting in milliseconds. An empty value is 0, as 0 seconds.
    func durationSetting(_ name: String, upTo limit: Double) throws(CommandError) -> UInt64? {
        isEmpty(name) || value(name).flatMap(Double.init) == 0 ? 0 : try milliseconds(name, upTo: limit)
    }

    /// A number of bytes. In "500k", "1.5M" and "2G" the units are powers of 1,024, as in `curl --limit-rate`. In "2GB"
    /// the unit is a power of 1,000, as in data plans. 0 means no limit.
    func bytes(_ name: String) throws(CommandError) -> UInt64? {
        guard let text = value(name) else { return nil }
        if text.isEmpty { return 0 }
        guard let bytes = Arguments.bytes(text) else {
            throw .usage("--\(name) takes bytes, such as 500000, 500k, 1.5M or 2G, not '\(text)'.")
        }
        return bytes
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

    /// A budget: the number of bytes that may be moved in a day or month. Nil means that the option is missing, 0 means
    /// no limit, and `BH_BUDGET_NOTHING` means a budget of 0 bytes. The text "0" is refused, because it could mean "no
    /// limit" or "no bytes".
    func budget(_ name: String) throws(CommandError) -> UInt64? {
        switch value(name) {
        case nil: return nil
        case "", "none": return 0
        case "nothing": return UInt64.max
        case .some(let text):
            guard let bytes = Arguments.bytes(text), bytes > 0, bytes < UInt64.max else {
                throw .usage(
                    "--\(name) takes bytes, such as 500MB or 2G, 'none' for no limit, or 'nothing' for a budget of 0 "
                        + "bytes; not '\(text)'.")
            }
            return bytes
        }
    }

    /// `BH_YES` for "yes", `BH_NO` for "no", and `BH_DEFAULT` for an empty value. Nil if the option is missing.
    func yesOrNo(_ name: String) throws(CommandError) -> Int32? {
        switch value(name) {
        case nil: return nil
        case "": return Int32(BH_DEFAULT)
        case "yes": return Int32(BH_YES)
        case "no": return Int32(BH_NO)
        case .some(let text): throw .usage("--\(name) takes 'yes' or 'no', not '\(text)'.")
        }
    }

    /// A percentage. 0 means no limit.
    func percent(_ name: String) throws(CommandError) -> UInt32? {
        try setting(name, in: 0...100)
    }

    /// Converts a value in seconds, such as "90" or "0.5", to milliseconds.
    func milliseconds(_ name: String, upTo limit: Double = 315_360_000) throws(CommandError) -> UInt64? {
        guard let text = value(name) else { return nil }
        guard Arguments.isPlain(text[...]), let seconds = Double(text), seconds > 0, seconds <= limit else {
            throw .usage("--\(name) takes seconds, such as 90 or 0.5, not '\(text)'.")
        }
        return max(1, UInt64((seconds * 1000).rounded()))
    }

    /// The time that is the given number of seconds from now, in Unix milliseconds.
    func futureTime(after name: String) throws(CommandError) -> Int64? {
        try milliseconds(name).map { Clock.wallMilliseconds + Int64($0) }
    }

    /// The number for the word in the option's value. `words` has each valid word with its number.
    func choice(_ name: String, _ words: [(String, Int)]) throws(CommandError) -> Int32? {
        guard let text = value(name) else { return nil }
        if text.isEmpty { return Int32(BH_DEFAULT) }
        guard let found = words.first(where: { $0.0 == text }) else {
            let list = words.map { "'\($0.0)'" }.joined(separator: ", ")
            throw .usage("--\(name) takes one of \(list), not '\(text)'.")
        }
        return Int32(found.1)
    }

    /// Commas separate the words in the option's value. Returns the bits for these words. `words` has each valid word
    /// with its bits.
    func bits(_ name: String, _ words: [(String, Int)]) throws(CommandError) -> UInt32? {
        guard has(name) else { return nil }
        var bits = 0
        for word in all(name).flatMap({ $0.split(separator: ",") }) {
            guard let found = words.first(where: { $0.0 == word }) else {
                let list = words.map { "'\($0.0)'" }.joined(separator: ", ")
                throw .usage("--\(name) takes some of \(list), not '\(word)'.")
            }
            bits |= found.1
        }
        return UInt32(bits)
    }

    /// Whether the text has only digits and points. Signs, exponents and words such as "nan" are refused.
    private static func isPlain(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
