/// Writes OpenMetrics text in the older format of Prometheus, text/plain version 0.0.4. `promtool check metrics`, the
/// textfile collector of node_exporter and old servers read only this format
/// (https://prometheus.io/docs/instrumenting/exposition_formats/). It has no units, no times of creation and no type
/// `info`, and the type of a counter has the full name of its samples.
public enum PrometheusText {
    public static func write(_ openMetrics: String) -> String {
        var (text, type) = ("", Substring())
        for line in openMetrics.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.first == "#" else {
                if !isCreation(line, of: type) { text += "\(line)\n" }
                continue
            }
            guard words.count == 4, words[1] != "UNIT" else { continue }
            if words[1] == "TYPE" { type = words[3] }
            let name = words[2] + suffix(of: type)
            let rest = words[1] == "HELP" ? unescapedQuotes(words[3]) : type == "info" ? "gauge" : String(words[3])
            text += "# \(words[1]) \(name) \(rest)\n"
        }
        return text
    }

    private static func suffix(of type: Substring) -> String {
        switch type {
        case "counter": "_total"
        case "info": "_info"
        default: ""
        }
    }

    /// Whether the line is the sample with the time of creation.
    private static func isCreation(_ line: Substring, of type: Substring) -> Bool {
        (type == "counter" || type == "histogram")
            && line.prefix { $0 != "{" && $0 != " " }.hasSuffix("_created")
    }

    /// This format escapes no quotation marks in the help of a metric.
    private static func unescapedQuotes(_ help: Substring) -> String {
        var (text, rest) = ("", help)
        while let found = rest.firstOccurrence(of: "\\\"") {
            text += rest[..<found.lowerBound] + "\""
            rest = rest[found.upperBound...]
        }
        return text + rest
    }
}
