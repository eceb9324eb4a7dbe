/// When a task starts at the earliest, for people.
public enum StartText {
    /// Unix milliseconds. `offset`: milliseconds of local time minus those of Unix time, at a Unix time.
    public static func earliest(
        _ start: Int64, now: Int64, localOffsetMilliseconds offset: (Int64) -> Int64
    ) -> String {
        "it is to start at \(LocalTime.text(start, from: now, offset)) or a little later"
    }
}
