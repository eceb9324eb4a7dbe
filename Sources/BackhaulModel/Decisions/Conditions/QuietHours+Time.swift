extension QuietHours {
    /// Whether a local time is within the quiet hours, which are hours of local time in which transfers wait.
    func covers(_ time: LocalTime) -> Bool {
        let today = 1 << UInt8(time.weekday)
        let yesterday = 1 << UInt8((time.weekday + 6) % 7)
        return spans.contains { span in
            let (begin, end) = (Int(span.begin), Int(span.end))
            if end > begin { return span.days & UInt8(today) != 0 && (begin..<end).contains(time.minuteOfDay) }
            return span.days & UInt8(today) != 0 && time.minuteOfDay >= begin
                || span.days & UInt8(yesterday) != 0 && time.minuteOfDay < end
        }
    }

    /// Returns whether a Unix time in milliseconds is within quiet hours. Also returns the Unix time at which quiet
    /// hours next begin or end; nil if they never do. `offset`: returns, for a Unix time, how many milliseconds local
    /// time is ahead of this Unix time. If daylight saving skips or repeats an hour, the time that the clock shows
    /// decides.
    public func state(
        at now: Int64, localOffsetMilliseconds offset: (Int64) -> Int64
    ) -> (isQuiet: Bool, changes: Int64?) {
        let start = LocalTime.bounded(now)
        let isQuiet = covers(LocalTime(start, offset))
        let edges = self.edges
        var at = start
        // Two weeks are enough: if the clocks change in the first week, they do not change in the second week.
        while at - start < 15 * LocalTime.day {
            guard let next = Self.next(after: at, edges, offset) else { return (isQuiet, nil) }
            at = next
            if covers(LocalTime(at, offset)) != isQuiet { return (isQuiet, at) }
        }
        return (isQuiet, nil)
    }

    /// The begin of the quiet hours that contain a Unix time in milliseconds. Nil if they began more than eight days
    /// before, or if the offsets of the time zone make no sense.
    func begin(before now: Int64, localOffsetMilliseconds offset: (Int64) -> Int64) -> Int64? {
        let now = LocalTime.bounded(now)
        var at = now - 8 * LocalTime.day
        var begin: Int64?
        // 1,000 exceeds the number of begins and ends in eight days.
        for _ in 0..<1_000 {
            guard let next = state(at: at, localOffsetMilliseconds: offset).changes, next <= now else { return begin }
            begin = next
            at = next
        }
        return nil
    }

    /// The minutes of the week at which a span (a part of the quiet hours) begins or ends, sorted.
    private var edges: [Int] {
        var edges: Set<Int> = []
        for span in spans {
            for day in 0..<7 where span.days & 1 << UInt8(day) != 0 {
                let end = span.end > span.begin ? Int(span.end) : Int(span.end) + 1_440
                edges.insert(day * 1_440 + Int(span.begin))
                edges.insert((day * 1_440 + end) % 10_080)
            }
        }
        return edges.sorted()
    }

    /// The next time at which a span begins or ends. If the clocks change before that time (daylight saving), the
    /// result is the time of this change.
    private static func next(after now: Int64, _ edges: [Int], _ offset: (Int64) -> Int64) -> Int64? {
        let time = LocalTime(now, offset)
        let ofWeek = Int64(time.weekday) * LocalTime.day + time.time
        guard let first = edges.first else { return nil }
        let next = edges.first { Int64($0) * LocalTime.minute > ofWeek } ?? first + 10_080
        let at = now + Int64(next) * LocalTime.minute - ofWeek
        if offset(at) == offset(now) { return at }
        // The clocks change between `now` and `at`. There is only one change, because the clocks of a time zone change
        // at most once a week.
        var (before, after) = (now, at)
        let former = offset(now)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if offset(middle) == former { before = middle } else { after = middle }
        }
        return after
    }
}
