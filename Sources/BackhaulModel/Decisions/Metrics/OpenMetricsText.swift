/// Writes metrics as OpenMetrics text, version 1.0.0
/// (https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md).
public struct OpenMetricsText {
    /// When the counters were 0, in Unix milliseconds.
    private let created: String
    private var text = ""

    private init(createdMilliseconds: Int64) { created = Self.seconds(createdMilliseconds, digits: 3) }

    /// `createdMilliseconds`: when the counters were 0, in Unix milliseconds.
    public static func write(_ families: [MetricFamily], createdMilliseconds: Int64) -> String {
        var writer = OpenMetricsText(createdMilliseconds: createdMilliseconds)
        for family in families { writer.write(family) }
        return writer.text + "# EOF\n"
    }

    private mutating func write(_ family: MetricFamily) {
        text += "# TYPE \(family.name) \(family.values.type)\n"
        if let unit = family.unit { text += "# UNIT \(family.name) \(unit.rawValue)\n" }
        text += "# HELP \(family.name) \(Self.escaped(family.help))\n"
        switch family.values {
        case .info(let labels): sample(family.name + "_info", labels, "1")
        case .gauge(let samples):
            for (labels, value) in samples { sample(family.name, labels, Self.number(value)) }
        case .counter(let samples):
            for (labels, value) in samples {
                sample(family.name + "_total", labels, String(value))
                sample(family.name + "_created", labels, created)
            }
        case .histogram(let histogram): write(histogram, family.name)
        }
    }

    private mutating func write(_ histogram: DurationHistogram, _ name: String) {
        var count: UInt64 = 0
        let bounds = DurationHistogram.bounds.map { Self.seconds($0, digits: 6) } + ["+Inf"]
        for (bound, inBucket) in zip(bounds, histogram.counts) {
            count &+= inBucket
            sample(name + "_bucket", [MetricFamily.Label("le", bound)], String(count))
        }
        sample(name + "_count", [], String(count))
        sample(name + "_sum", [], Self.seconds(Int64(clamping: histogram.sumMicroseconds), digits: 6))
        sample(name + "_created", [], created)
    }

    private mutating func sample(_ name: String, _ labels: [MetricFamily.Label], _ value: String) {
        let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        text += pairs.isEmpty ? "\(name) \(value)\n" : "\(name){\(pairs)} \(value)\n"
    }

    // MARK: Values

    /// Returns a count of thousandths (`digits` is 3) or millionths of a second (6) in seconds, without rounding. The
    /// text always has a fraction, because the specification demands this of the bounds of buckets.
    private static func seconds(_ count: Int64, digits: Int) -> String {
        let unit = (0..<digits).reduce(1) { power, _ in power * 10 }
        let fraction = String((count.magnitude % UInt64(unit)) + UInt64(unit)).dropFirst()
        let significant = fraction.reversed().drop { $0 == "0" }.reversed()
        let sign = count < 0 ? "-" : ""
        return "\(sign)\(count.magnitude / UInt64(unit)).\(significant.isEmpty ? "0" : String(significant))"
    }

    /// Whole numbers have no fraction and no exponent.
    private static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return String(whole) }
        return value.isFinite ? String(value) : value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}

extension MetricFamily.Values {
    fileprivate var type: String {
        switch self {
        case .info: "info"
        case .gauge: "gauge"
        case .counter: "counter"
        case .histogram: "histogram"
        }
    }
}
