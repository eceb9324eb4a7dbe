import BackhaulModel
import BackhaulTransport
import Testing

@Suite("The metrics of a request", .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct MetricsTests {
    @Test("a first request has all phases in order, addresses and byte counts")
    func first() async throws {
        try await withNginx(["small": pattern(1_000)]) { nginx, browser in
            let record = await browser.fetch(request(nginx.tlsURL + "/small", caFile: nginx.caFile))
            let metrics = record.metrics
            let times = [
                metrics.domainLookup, metrics.connect, metrics.secureConnection, metrics.requestStart,
                metrics.requestEnd, metrics.responseStart, metrics.responseEnd,
            ].compactMap(\.self)
            #expect(times.count == 7 && times == times.sorted())
            #expect(metrics.startedMilliseconds > 1_600_000_000_000)
            #expect(metrics.url == nginx.tlsURL + "/small" && metrics.redirects == 0)
            #expect(metrics.networkProtocol == "h2" && !metrics.reusedConnection && !metrics.proxyConnection)
            #expect(metrics.localAddress == "127.0.0.1" && metrics.remoteAddress == "127.0.0.1")
            #expect(metrics.remotePort == nginx.tlsPort && metrics.localPort > 0)
            #expect(metrics.tlsVersion == "TLSv1.2" && metrics.tlsCipher?.hasPrefix("ECDHE-") == true)
            #expect(metrics.responseBodyBytes == 1_000 && metrics.requestBodyBytes == 0)
            #expect(metrics.requestHeaderBytes > 0 && metrics.responseHeaderBytes > 0)
        }
    }

    @Test("a reused connection has no lookup and connect times")
    func reused() async throws {
        try await withNginx(["small": pattern(1_000)]) { nginx, browser in
            let one = request(nginx.tlsURL + "/small", caFile: nginx.caFile)
            let metrics = await browser.fetchInTurn([one, one])[1].metrics
            #expect(metrics.reusedConnection)
            #expect(metrics.domainLookup == nil && metrics.connect == nil && metrics.secureConnection == nil)
            #expect(metrics.requestStart != nil && metrics.responseEnd != nil)
            #expect(metrics.tlsVersion == "TLSv1.2" && metrics.remotePort == nginx.tlsPort)
        }
    }

    @Test("without TLS there are no TLS metrics")
    func plain() async throws {
        try await withNginx(["small": pattern(10)]) { nginx, browser in
            let metrics = await browser.fetch(nginx.url + "/small").metrics
            #expect(metrics.networkProtocol == "http/1.1" && metrics.tlsVersion == nil && metrics.tlsCipher == nil)
            #expect(metrics.secureConnection == nil && metrics.connect != nil)
        }
    }

    @Test("the metrics are those of the last hop, with the number of redirects")
    func redirected() async throws {
        try await withNginx(["small": pattern(10)]) { nginx, browser in
            let metrics = await browser.fetch(nginx.url + "/down").metrics
            #expect(metrics.redirects == 1 && metrics.url == nginx.url + "/small")
        }
    }

    @Test("a refused connection has no request metrics")
    func refused() async throws {
        let browser = try Browser()
        defer { browser.close() }
        let record = await browser.fetch("http://127.0.0.1:1/")
        #expect(!record.metrics.reusedConnection && record.metrics.requestStart == nil)
        #expect(record.metrics.responseStart == nil && record.metrics.requestHeaderBytes == 0)
        guard case .failed(_, _, let circumstances) = record.end else {
            Issue.record("the transfer has not failed")
            return
        }
        #expect(circumstances.surelyNotProcessed)
    }
}
