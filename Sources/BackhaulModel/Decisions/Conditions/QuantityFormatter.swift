/// Formats amounts for messages.
enum QuantityFormatter {
    /// Returns text such as "5.0 GB", in powers of 1,000.
    static func bytes(_ bytes: UInt64) -> String {
        if bytes < 1_000 { return "\(bytes) B" }
        var tenths = bytes / 100
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            tenths /= 1_000
        }
        return "\(tenths / 10) EB"
    }

    static func rate(_ bytesPerSecond: UInt64) -> String { bytes(bytesPerSecond) + "/s" }

    /// Returns text such as "10 s", "5 min" or "1 min 20 s".
    static func duration(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        if seconds < 60 { return "\(seconds) s" }
        let (minutes, rest) = (seconds / 60, seconds % 60)
        if minutes < 60 { return rest == 0 ? "\(minutes) min" : "\(minutes) min \(rest) s" }
        return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// Returns text such as "a, b and c".
    static func list(_ words: [String], _ last: String = "and") -> String {
        guard let end = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " \(last) " + end
    }
}
