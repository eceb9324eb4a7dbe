/// A metric and its samples, as OpenMetrics 1.0.0 defines them. All values of this type are constants of the source or
/// numbers, so no sample has a text from outside.
public struct MetricFamily: Equatable, Sendable {
    public enum Unit: String, Sendable { case seconds, bytes }

    /// The value of a sample for each set of labels. A counter and a histogram begin at 0 at the start of the engine.
    public enum Values: Equatable, Sendable {
        case info([Label])
        case gauge([(labels: [Label], value: Double)])
        case counter([(labels: [Label], value: UInt64)])
        case histogram(DurationHistogram)

        public static func == (left: Values, right: Values) -> Bool {
            switch (left, right) {
            case (.info(let left), .info(let right)): left == right
            case (.gauge(let left), .gauge(let right)): left.elementsEqual(right, by: ==)
            case (.counter(let left), .counter(let right)): left.elementsEqual(right, by: ==)
            case (.histogram(let left), .histogram(let right)): left == right
            default: false
            }
        }
    }

    public struct Label: Equatable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// The name of the metric without a suffix such as `_total`. If the metric has a unit, the name ends with it.
    public let name: String
    public let unit: Unit?
    public let help: String
    public let values: Values

    public init(_ name: String, unit: Unit? = nil, _ help: String, _ values: Values) {
        (self.name, self.unit, self.help, self.values) = (name, unit, help, values)
    }

    /// Makes a gauge without labels.
    public init(_ name: String, unit: Unit? = nil, _ help: String, _ value: Double) {
        self.init(name, unit: unit, help, .gauge([([], value)]))
    }

    /// Makes a counter without labels.
    public init(_ name: String, unit: Unit? = nil, _ help: String, _ value: UInt64) {
        self.init(name, unit: unit, help, .counter([([], value)]))
    }
}
