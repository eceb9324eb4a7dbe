/// Parses times and durations as users write them.
enum TimeParser {
    static let advice = "a time such as 06:30, +2h, 2026-11-21T06:30 or 2026-11-21T06:30+01:00"

    /// Returns the time in milliseconds since 1970, or nil if the text is not a time.
    /// - Parameter after: A time in milliseconds since 1970. A relative time such as "+2h" counts from `after`. A time
    ///   of day such as "06:30" means the first such time later than `after`.
    static func milliseconds(_ text: String, after: Int64) -> Int64? {
        if text.hasPrefix("+") {
            guard let duration = duration(text.dropFirst()) else { return nil }
            let (time, overflow) = after.addingReportingOverflow(Int64(clamping: duration))
            return overflow ? nil : time
        }
        if let (hour, minute, second, rest) = clock(text[...]), rest.isEmpty {
            return next(hour, minute, second, after: after)
        }
        return calendar(text)
    }

    /// Whether the text is a time of day, such as "06:30".
    static func isTimeOfDay(_ text: String) -> Bool { clock(text[...])?.rest.isEmpty == true }

    private static func next(_ hour: Int, _ minute: Int, _ second: Int, after: Int64) -> Int64? {
        var time = LocalTime(milliseconds: after)
        (time.hour, time.minute, time.second) = (hour, minute, second)
        // The next two days are tried, too: today the time may have passed, and tomorrow the time may not exist because
        // daylight saving begins.
        for days in 0...2 {
            if let moment = time.adding(days: days).milliseconds(), moment > after { return moment }
        }
        return nil
    }

    /// Parses a date in the form of RFC 3339. The time, its seconds and the zone are optional. A blank may replace the
    /// T.
    private static func calendar(_ text: String) -> Int64? {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { "Tt ".contains($0) }
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, date[0].count == 4, let year = number(date[0], digits: 4),
            let month = number(date[1], digits: 2), let day = number(date[2], digits: 2)
        else { return nil }
        var time = LocalTime(year: year, month: month, day: day)
        guard parts.count == 2 else { return time.milliseconds() }
        guard let (hour, minute, second, rest) = clock(parts[1]) else { return nil }
        (time.hour, time.minute, time.second) = (hour, minute, second)
        if rest.isEmpty { return time.milliseconds() }
        guard let zone = zone(rest) else { return nil }
        return time.milliseconds(zone: zone)
    }

    /// Parses a time of day such as "06:30", "6:30" or "06:30:15". Also returns the text after the time.
    private static func clock(_ text: Substring) -> (hour: Int, minute: Int, second: Int, rest: Substring)? {
        let end = text.firstIndex { !$0.isASCII || !($0.isNumber || $0 == ":") } ?? text.endIndex
        let parts = text[..<end].split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let hour = number(parts[0], digits: 2), hour < 24,
            parts[1].count == 2, let minute = number(parts[1], digits: 2), minute < 60
        else { return nil }
        guard parts.count == 3 else { return (hour, minute, 0, text[end...]) }
        guard parts[2].count == 2, let second = number(parts[2], digits: 2), second < 60 else { return nil }
        return (hour, minute, second, text[end...])
    }

    /// Returns the seconds east of Greenwich for a time zone such as "Z", "+01:00", "-0530" or "+01".
    private static func zone(_ text: Substring) -> Int? {
        if text == "Z" || text == "z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard digits.count == 2 || digits.count == 4, let hours = number(digits.prefix(2), digits: 2), hours < 24
        else { return nil }
        let minutes = digits.count == 4 ? number(digits.suffix(2), digits: 2) : 0
        guard let minutes, minutes < 60 else { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    /// Returns the milliseconds of a duration such as "90", "90s", "15m", "24h", "1h30m", "7d" or "2w". Returns nil for
    /// other texts.
    static func duration(_ text: some StringProtocol) -> UInt64? {
        let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        var rest = text[...]
        if !rest.isEmpty, rest.allSatisfy({ $0.isASCII && $0.isNumber }) {
            return UInt64(String(rest)).flatMap { scaled($0, 1000) }
        }
        var total: UInt64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[digits.endIndex...]
            guard let count = UInt64(String(digits)), let letter = rest.popFirst(), let unit = units[letter],
                let part = scaled(count, unit * 1000)
            else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(part)
            guard !overflow else { return nil }
            total = sum
        }
        return total == 0 ? nil : total
    }

    private static func scaled(_ count: UInt64, _ unit: UInt64) -> UInt64? {
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        return overflow || product == 0 || product > UInt64(Int64.max) / 2 ? nil : product
    }

    private static func number(_ text: some StringProtocol, digits: Int) -> Int? {
        guard (1...digits).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(String(text))
    }
}

extension Arguments {
    /// The time that an option gives, in milliseconds since 1970.
    /// - Parameter after: A time of day means the first such time later than `after` and later than now.
    func time(_ name: String, after: Int64? = nil) throws(CommandError) -> Int64? {
        guard let text = value(name) else { return nil }
        let now = Clock.wallMilliseconds
        let start = TimeParser.isTimeOfDay(text) ? max(now, after ?? now) : now
        guard let time = TimeParser.milliseconds(text, after: start) else {
            throw .usage("--\(name) takes \(TimeParser.advice), not '\(text)'")
        }
        return time
    }

    /// The duration that an option gives, in milliseconds.
    func duration(_ name: String) throws(CommandError) -> UInt64? {
        guard let text = value(name) else { return nil }
        guard let duration = TimeParser.duration(text) else {
            throw .usage("--\(name) takes a duration such as 90s, 15m, 24h or 7d, not '\(text)'")
        }
        return duration
    }
}
