/// Numbers with units, in the spellings of curl.
extension Arguments {
    /// Bytes: "500k", "1.5M", "2G", in powers of 1,024, as `curl --limit-rate`. 0 stands for no limit.
    func bytes(_ name: String) throws(CommandError) -> UInt64? {
        guard let text = value(name) else { return nil }
        guard let bytes = Arguments.bytes(text) else {
            throw .usage("--\(name) takes bytes, such as 500000, 500k, 1.5M or 2G, not '\(text)'.")
        }
        return bytes
    }

    static func bytes(_ text: String) -> UInt64? {
        let units: [Character: Double] = [
            "k": 1024, "m": 1_048_576, "g": 1_073_741_824, "t": 1_099_511_627_776, "p": 1_125_899_906_842_624,
        ]
        var digits = text[...]
        var factor = 1.0
        if let last = digits.last, let unit = units[Character(last.lowercased())] {
            digits.removeLast()
            factor = unit
        }
        if factor == 1 { return UInt64(digits) }
        guard isPlain(digits), let number = Double(digits) else { return nil }
        return UInt64(exactly: (number * factor).rounded())
    }

    /// Seconds as milliseconds: "90", "0.5".
    func milliseconds(_ name: String, upTo limit: Double = 315_360_000) throws(CommandError) -> UInt64? {
        guard let text = value(name) else { return nil }
        guard Arguments.isPlain(text[...]), let seconds = Double(text), seconds > 0, seconds <= limit else {
            throw .usage("--\(name) takes seconds, such as 90 or 0.5, not '\(text)'.")
        }
        return max(1, UInt64((seconds * 1000).rounded()))
    }

    /// Unix milliseconds of a time that many seconds from now.
    func moment(after name: String) throws(CommandError) -> Int64? {
        try milliseconds(name).map { Clock.wallMilliseconds + Int64($0) }
    }

    /// One of a few words, which stand for numbers.
    func choice(_ name: String, _ words: [(String, Int)]) throws(CommandError) -> Int32? {
        guard let text = value(name) else { return nil }
        guard let found = words.first(where: { $0.0 == text }) else {
            let list = words.map { "'\($0.0)'" }.joined(separator: ", ")
            throw .usage("--\(name) takes one of \(list), not '\(text)'.")
        }
        return Int32(found.1)
    }

    /// Words with commas between, each of which stands for a bit.
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

    /// Digits, perhaps with a point: no sign, no exponent, no "nan".
    private static func isPlain(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
