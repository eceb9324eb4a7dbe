import Backhaul

/// Texts for times, in local time.
extension Text {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A time such as "06:30" (today), "tomorrow 06:30", "20 Nov 21:04" or "20 Nov 2025 21:04".
    static func dateAndTime(_ milliseconds: Int64, now: Int64 = Clock.wallMilliseconds) -> String {
        let time = LocalTime(milliseconds: milliseconds)
        let today = LocalTime(milliseconds: now)
        let clock = Text.clock(time)
        if time.isSameDay(as: today) { return clock }
        if time.isSameDay(as: today.adding(days: 1)) { return "tomorrow " + clock }
        if time.isSameDay(as: today.adding(days: -1)) { return "yesterday " + clock }
        return date(time, today) + " " + clock
    }

    /// A time of day with seconds, such as "06:30:00".
    static func clockWithSeconds(_ milliseconds: Int64) -> String {
        let time = LocalTime(milliseconds: milliseconds)
        return clock(time) + (time.second < 10 ? ":0" : ":") + "\(time.second)"
    }

    /// A period such as "20 Nov 21:04 - 21 Nov 06:30", or "20 Nov 21:04 - now" if it has no end.
    static func period(_ begin: Int64, _ end: Int64?, now: Int64 = Clock.wallMilliseconds) -> String {
        let first = LocalTime(milliseconds: begin)
        let today = LocalTime(milliseconds: now)
        let start = date(first, today) + " " + clock(first)
        guard let end else { return start + " - now" }
        let last = LocalTime(milliseconds: end)
        return start + " - " + (first.isSameDay(as: last) ? "" : date(last, today) + " ") + clock(last)
    }

    /// A time and the duration until then, such as "at 06:30 (in 40 min)", "tomorrow at 06:30 (in 9 h 26 min)" or "on
    /// 23 Nov at 06:30 (in 3 days)".
    static func timeWithCountdown(_ milliseconds: Int64, now: Int64 = Clock.wallMilliseconds) -> String {
        let seconds = (milliseconds - now + 999) / 1000
        if seconds <= 0 { return "now" }
        let time = LocalTime(milliseconds: milliseconds)
        let today = LocalTime(milliseconds: now)
        var day = ""
        if time.isSameDay(as: today.adding(days: 1)) {
            day = "tomorrow "
        } else if !time.isSameDay(as: today) {
            day = "on \(date(time, today)) "
        }
        // A countdown of a minute or more is rounded up to whole minutes, so that it is never shorter than the time
        // that remains.
        let upwards = seconds < 60 ? seconds : seconds.addingReportingOverflow(59).partialValue / 60 * 60
        return "\(day)at \(clock(time)) (in \(approximate(seconds: upwards)))"
    }

    /// An approximate duration, such as "400 ms" or "6 min".
    static func approximate(milliseconds: Int64) -> String {
        milliseconds < 1000 ? "\(max(0, milliseconds)) ms" : approximate(seconds: milliseconds / 1000)
    }

    /// An approximate duration, such as "40 s", "6 min", "9 h 26 min" or "3 days".
    static func approximate(seconds: Int64) -> String {
        if seconds < 60 { return "\(max(0, seconds)) s" }
        if seconds < 3600 { return "\(seconds / 60) min" }
        if seconds < 48 * 3600, seconds / 60 % 60 == 0 { return "\(seconds / 3600) h" }
        return duration(seconds: seconds)
    }

    static func exactDuration(_ duration: Duration) -> String {
        exactDuration(milliseconds: UInt64(clamping: duration.wholeMilliseconds))
    }

    /// An exact duration, such as "24 h", "1 h 30 min", "10 s" or "7 days".
    static func exactDuration(milliseconds: UInt64) -> String {
        var rest = milliseconds / 1000
        if rest == 0 { return "\(milliseconds) ms" }
        var parts: [String] = []
        // Durations up to two days are written in hours.
        if rest > 48 * 3600 {
            let days = rest / 86_400
            rest %= 86_400
            parts.append(days == 1 ? "1 day" : "\(days) days")
        }
        for (size, unit) in [(UInt64(3600), "h"), (60, "min"), (1, "s")] where rest >= size {
            parts.append("\(rest / size) \(unit)")
            rest %= size
        }
        return parts.joined(separator: " ")
    }

    /// An exact duration as an option takes it, such as "1h30m" or "7d". Parts of a second are seconds without a unit.
    static func duration(milliseconds: UInt64) -> String {
        if milliseconds % 1000 != 0 || milliseconds == 0 { return "\(Double(milliseconds) / 1000)" }
        var rest = milliseconds / 1000
        var text = ""
        for (size, unit) in [(UInt64(86_400), "d"), (3600, "h"), (60, "m"), (1, "s")] where rest >= size {
            text += "\(rest / size)\(unit)"
            rest %= size
        }
        return text
    }

    private static func date(_ time: LocalTime, _ today: LocalTime) -> String {
        let month = months.indices.contains(time.month - 1) ? months[time.month - 1] : "?"
        return "\(time.day) \(month)" + (time.year == today.year ? "" : " \(time.year)")
    }

    private static func clock(_ time: LocalTime) -> String {
        "\(time.hour < 10 ? "0" : "")\(time.hour):\(time.minute < 10 ? "0" : "")\(time.minute)"
    }
}
