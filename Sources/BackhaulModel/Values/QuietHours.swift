/// Hours of local time in which tasks wait: "22:00-06:30", or several spans with days, "mon-fri 08:00-18:00, sat
/// 10:00-14:00". If the end of a span is not later than its begin, the end is on the next day. The hours are times on
/// the local clock, so their times in UTC change with daylight saving.
public struct QuietHours: Hashable, Sendable {
    public struct Span: Hashable, Sendable {
        /// The days on which the span begins, as bits 1 << day; Monday is 0.
        public var days: UInt8
        /// The minute of the day at which the span begins, 0 to 1,439.
        public var begin: UInt16
        /// The minute of the day at which the span ends, 0 to 1,440. If the minute is not later than `begin`, it is on
        /// the next day.
        public var end: UInt16

        public init(days: UInt8 = 0x7F, begin: UInt16, end: UInt16) {
            self.days = days
            self.begin = begin
            self.end = end
        }
    }

    /// 1 to `spanLimit` spans.
    public var spans: [Span]

    public static let spanLimit = 50
    private static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    public init(spans: [Span]) { self.spans = spans }

    /// Returns nil if the text is not a list of spans.
    public init?(_ text: String) {
        var spans: [Span] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: " ")
            guard let hours = words.last, words.count <= 2, let times = Self.times(hours) else { return nil }
            var days: UInt8 = 0x7F
            if words.count == 2 {
                guard let named = Self.days(words[0]) else { return nil }
                days = named
            }
            spans.append(Span(days: days, begin: times.begin, end: times.end))
        }
        guard (1...Self.spanLimit).contains(spans.count) else { return nil }
        self.spans = spans
    }

    /// The text in the form that `init` reads.
    public var text: String {
        spans.flatMap { span in
            let hours = "\(Self.clock(span.begin))-\(Self.clock(span.end))"
            return span.days & 0x7F == 0x7F ? [hours] : Self.names(span.days).map { "\($0) \(hours)" }
        }.joined(separator: ", ")
    }

    /// Whether the hours cover every minute of the week.
    public var coversEverything: Bool {
        var minutes = [Bool](repeating: false, count: 7 * 1_440)
        for span in spans {
            for day in 0..<7 where span.days & 1 << UInt8(day) != 0 {
                let length = span.end > span.begin ? span.end - span.begin : span.end + 1_440 - span.begin
                let begin = day * 1_440 + Int(span.begin)
                for minute in begin..<(begin + Int(length)) { minutes[minute % minutes.count] = true }
            }
        }
        return minutes.allSatisfy(\.self)
    }

    private static func times(_ text: Substring) -> (begin: UInt16, end: UInt16)? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let begin = minutes(ends[0]), let end = minutes(ends[1]), begin < 1_440, begin != end
        else { return nil }
        return (begin, end)
    }

    /// Reads "06:30". "24:00" is the end of a day.
    private static func minutes(_ text: Substring) -> UInt16? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            let hour = number(bytes[0], bytes[1]), let minute = number(bytes[3], bytes[4]),
            hour < 24 && minute < 60 || hour == 24 && minute == 0
        else { return nil }
        return hour * 60 + minute
    }

    private static func number(_ tens: UInt8, _ ones: UInt8) -> UInt16? {
        guard tens.isDigit, ones.isDigit else { return nil }
        return UInt16(tens - UInt8(ascii: "0")) * 10 + UInt16(ones - UInt8(ascii: "0"))
    }

    /// Reads "sat", "mon-fri" or "fri-mon".
    private static func days(_ text: Substring) -> UInt8? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { name in
            dayNames.firstIndex { $0.utf8.elementsEqual(name.utf8) }
        }
        guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil else { return nil }
        var days: UInt8 = 0
        var day = first
        while true {
            days |= 1 << UInt8(day)
            if day == last { return days }
            day = (day + 1) % 7
        }
    }

    /// The days as ranges, such as "fri-mon", or "mon", "wed" and "fri". At least one day of the week must be missing.
    private static func names(_ days: UInt8) -> [String] {
        func has(_ day: Int) -> Bool { days & 1 << UInt8(day % 7) != 0 }
        return (0..<7).filter { has($0) && !has($0 + 6) }.map { first in
            var last = first
            while has(last + 1) { last += 1 }
            return first == last ? dayNames[first] : "\(dayNames[first])-\(dayNames[last % 7])"
        }
    }

    private static func clock(_ minutes: UInt16) -> String {
        let (hour, minute) = (minutes / 60, minutes % 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    }
}
