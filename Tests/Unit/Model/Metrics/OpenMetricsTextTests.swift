import BackhaulModel
import Testing

private typealias Label = MetricFamily.Label

@Suite("OpenMetrics text")
struct OpenMetricsTextTests {
    private func text(_ families: MetricFamily..., created: Int64 = 1_732_800_000_250) -> String {
        OpenMetricsText.write(families, createdMilliseconds: created)
    }

    @Test("a counter has the suffix _total, and the time at which it was 0")
    func counter() {
        let family = MetricFamily("backhaul_sent_bytes", unit: .bytes, "Sent bytes.", UInt64.max)
        #expect(
            text(family) == """
                # TYPE backhaul_sent_bytes counter
                # UNIT backhaul_sent_bytes bytes
                # HELP backhaul_sent_bytes Sent bytes.
                backhaul_sent_bytes_total 18446744073709551615
                backhaul_sent_bytes_created 1732800000.25
                # EOF

                """)
    }

    @Test("the samples of one set of labels stay together")
    func labels() {
        let samples: [(labels: [Label], value: UInt64)] = [
            ([Label("outcome", "failed")], 1), ([Label("outcome", "retried"), Label("b", "c")], 2),
        ]
        let lines = text(MetricFamily("a", "B", .counter(samples)), created: 5_000).split(separator: "\n").dropFirst(2)
        #expect(
            Array(lines) == [
                #"a_total{outcome="failed"} 1"#, #"a_created{outcome="failed"} 5.0"#,
                #"a_total{outcome="retried",b="c"} 2"#, #"a_created{outcome="retried",b="c"} 5.0"#, "# EOF",
            ])
    }

    @Test(
        "a gauge shows whole numbers without a fraction, and other numbers as floating-point numbers",
        arguments: [
            (0, "0"), (1e12, "1000000000000"), (0.25, "0.25"), (-3, "-3"), (.nan, "NaN"), (.infinity, "+Inf"),
            (-.infinity, "-Inf"), (1e300, "1e+300"),
        ] as [(Double, String)])
    func gauge(value: Double, shown: String) {
        #expect(text(MetricFamily("g", "A gauge.", value)).contains("\ng \(shown)\n"))
    }

    @Test("the value of an info is in its labels")
    func info() {
        let family = MetricFamily("backhaul_engine", "The engine.", .info([Label("version", "1.0.0")]))
        #expect(
            text(family) == """
                # TYPE backhaul_engine info
                # HELP backhaul_engine The engine.
                backhaul_engine_info{version="1.0.0"} 1
                # EOF

                """)
    }

    @Test("backslashes, quotation marks and newlines are escaped in labels and helps")
    func escapes() {
        let text = text(MetricFamily("m", "a \\ \" \n b", .gauge([([Label("l", "a \\ \" \n b")], 1)])))
        #expect(text.contains(#"# HELP m a \\ \" \n b"# + "\n"))
        #expect(text.contains(#"m{l="a \\ \" \n b"} 1"# + "\n"))
    }

    @Test("the buckets of a histogram are cumulative, and the last bucket is the count")
    func histogram() {
        var durations = DurationHistogram()
        for microseconds: Int64 in [1, 1_000, 1_001, 30_000, 60_000_000] { durations.add(microseconds: microseconds) }
        #expect(
            text(MetricFamily("d_seconds", unit: .seconds, "Durations.", .histogram(durations)), created: 1_000) == """
                # TYPE d_seconds histogram
                # UNIT d_seconds seconds
                # HELP d_seconds Durations.
                d_seconds_bucket{le="0.001"} 2
                d_seconds_bucket{le="0.005"} 3
                d_seconds_bucket{le="0.025"} 3
                d_seconds_bucket{le="0.1"} 4
                d_seconds_bucket{le="0.5"} 4
                d_seconds_bucket{le="2.5"} 4
                d_seconds_bucket{le="10.0"} 4
                d_seconds_bucket{le="+Inf"} 5
                d_seconds_count 5
                d_seconds_sum 60.032002
                d_seconds_created 1.0
                # EOF

                """)
    }

    @Test("without metrics, the text is the line that marks its end")
    func empty() { #expect(text() == "# EOF\n") }
}

@Suite("The format of Prometheus")
struct PrometheusTextTests {
    @Test("it has no units, no times of creation, no type info and no end, and the full name of a counter")
    func converted() {
        var durations = DurationHistogram()
        durations.add(microseconds: 3_000_000)
        let families = [
            MetricFamily("e", "An \"engine\".", .info([Label("version", "1")])),
            MetricFamily("a_bytes", unit: .bytes, "Bytes.", .counter([([Label("reason", "_created 1")], 7)])),
            MetricFamily("g_seconds", unit: .seconds, "A gauge.", 1.5),
            MetricFamily("h_seconds", unit: .seconds, "Durations.", .histogram(durations)),
        ]
        #expect(
            PrometheusText.write(OpenMetricsText.write(families, createdMilliseconds: 1)) == """
                # TYPE e_info gauge
                # HELP e_info An "engine".
                e_info{version="1"} 1
                # TYPE a_bytes_total counter
                # HELP a_bytes_total Bytes.
                a_bytes_total{reason="_created 1"} 7
                # TYPE g_seconds gauge
                # HELP g_seconds A gauge.
                g_seconds 1.5
                # TYPE h_seconds histogram
                # HELP h_seconds Durations.
                h_seconds_bucket{le="0.001"} 0
                h_seconds_bucket{le="0.005"} 0
                h_seconds_bucket{le="0.025"} 0
                h_seconds_bucket{le="0.1"} 0
                h_seconds_bucket{le="0.5"} 0
                h_seconds_bucket{le="2.5"} 0
                h_seconds_bucket{le="10.0"} 1
                h_seconds_bucket{le="+Inf"} 1
                h_seconds_count 1
                h_seconds_sum 3.0

                """)
    }
}
