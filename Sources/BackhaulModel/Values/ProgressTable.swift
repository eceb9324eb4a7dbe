/// The latest progress of each task, until the host reads the progress. If there are more than `limit` tasks, the task
/// whose progress has waited longest is removed.
public struct ProgressTable: Sendable {
    public static let limit = 1_024

    private var readings: [TaskID: (reading: Progress, order: UInt64)] = [:]
    private var lastOrder: UInt64 = 0

    public init() {}

    public var isEmpty: Bool { readings.isEmpty }

    public mutating func add(_ news: [Progress]) {
        for reading in news {
            lastOrder &+= 1
            readings[reading.task] = (reading, readings[reading.task]?.order ?? lastOrder)
            guard readings.count > Self.limit else { continue }
            if let oldest = readings.min(by: { $0.value.order < $1.value.order })?.key { readings[oldest] = nil }
        }
    }

    /// Removes and returns all readings, sorted by task.
    public mutating func take() -> [Progress] {
        defer { readings = [:] }
        return readings.values.map(\.reading).sorted { $0.task < $1.task }
    }
}
