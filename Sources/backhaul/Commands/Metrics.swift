import Backhaul
import BackhaulModel

struct Metrics: DescribedCommand {
    static let description = CommandDescription(
        name: "metrics", operands: "", summary: "print metrics of the engine for a monitoring system",
        examples: ["backhaul metrics", "backhaul metrics --format prometheus"],
        options: [
            OptionDescription(
                "format", nil, "openmetrics|prometheus",
                "the format of the text; prometheus: the older one, for programs that read no other (openmetrics)")
        ],
        details: """
            Prints OpenMetrics text: tasks by state, transferred bytes, retries and waits by reason, and times of the
            disk. The text has no URLs, names of servers or paths. To let Prometheus read the metrics, start the daemon
            with --metrics, as backhauld(8) describes. With --json one document with the OpenMetrics text.
            """, storeUse: .makes, usesSession: false)

    private let isPrometheus: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else { throw .usage("`metrics` takes no arguments") }
        let format = try arguments.choice("format", [("openmetrics", false), ("prometheus", true)])
        isPrometheus = format == .some(true)
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        try context.withApplication { (application) throws(CommandError) in
            let text = try application.metrics()
            if context.output.isJSON {
                try context.output.result(.record("bh_metrics", [("text", .string(text))]))
                return .done
            }
            let lines = (isPrometheus ? PrometheusText.write(text) : text).split(separator: "\n")
            try context.output.result(lines: lines.map(String.init))
            return .done
        }
    }
}
