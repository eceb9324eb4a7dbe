import BackhaulModel
import Testing

@Suite("The metrics of an attempt with several requests")
struct TransferMetricsTests {
    private func metrics(started: Int64, sent: UInt64, connect: Int64?) -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.startedMilliseconds = started
        (metrics.requestBodyBytes, metrics.connect) = (sent, connect)
        (metrics.requestStart, metrics.requestEnd) = (10, 20)
        (metrics.responseStart, metrics.responseEnd) = (30, 40)
        metrics.remoteAddress = "address \(started)"
        return metrics
    }

    @Test("they begin with the first request, end with the last one, and have the sum of the bytes")
    func continued() {
        let sum = metrics(started: 1_000, sent: 5, connect: 7).continued(
            by: metrics(started: 1_003, sent: 6, connect: nil))
        #expect(sum.startedMilliseconds == 1_000 && sum.requestBodyBytes == 11 && sum.connect == 7)
        #expect(sum.requestStart == 10 && sum.requestEnd == 3_020)
        #expect(sum.responseStart == 3_030 && sum.responseEnd == 3_040)
        #expect(sum.remoteAddress == "address 1003")
    }

    @Test("without an earlier request, they are those of the request")
    func first() {
        let only = metrics(started: 1_000, sent: 5, connect: 7)
        #expect(TransferMetrics().continued(by: only) == only)
    }
}
