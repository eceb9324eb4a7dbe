/// Writes a task's earliest start, the time before which the task does not start, as a text for users.
public enum StartMessage {
    /// `start`: Unix milliseconds. `offset`: returns by how many milliseconds local time is ahead of UTC at a given
    /// Unix time.
    public static func earliest(
        _ start: Int64, now: Int64, localOffsetMilliseconds offset: (Int64) -> Int64
    ) -> String {
        "it is to start at \(LocalTime.text(start, from: now, offset)) or a little later"
    }
}
