import BackhaulModel
import BackhaulTransport
import Testing

@Suite("The metrics of a request", .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct MetricsTests {
    @Test("the metrics of a first request have addresses, byte counts, and the times of all phases in order")
    func first() async throws {
        try await withNginx(["small": pattern(1_000)]) { nginx, transferClient in
            let record = await transferClient.fetch(request(nginx.tlsURL + "/small", caFile: nginx.caFile))
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

    @Test("the metrics of a request on a reused connection have no times for the lookup and the connect")
    func reused() async throws {
        try await withNginx(["small": pattern(1_000)]) { nginx, transferClient in
            let one = request(nginx.tlsURL + "/small", caFile: nginx.caFile)
            let metrics = await transferClient.fetchOneByOne([one, one])[1].metrics
            #expect(metrics.reusedConnection)
            #expect(metrics.domainLookup == nil && metrics.connect == nil && metrics.secureConnection == nil)
            #expect(metrics.requestStart != nil && metrics.responseEnd != nil)
            #expect(metrics.tlsVersion == "TLSv1.2" && metrics.remotePort == nginx.tlsPort)
        }
    }

    @Test("the metrics of a request without TLS have no values about TLS")
    func plain() async throws {
        try await withNginx(["small": pattern(10)]) { nginx, transferClient in
            let metrics = await transferClient.fetch(nginx.url + "/small").metrics
            #expect(metrics.networkProtocol == "http/1.1" && metrics.tlsVersion == nil && metrics.tlsCipher == nil)
            #expect(metrics.secureConnection == nil && metrics.connect != nil)
        }
    }

    @Test("the metrics of a redirected request have the URL of the last request and the number of redirects")
    func redirected() async throws {
        try await withNginx(["small": pattern(10)]) { nginx, transferClient in
            let metrics = await transferClient.fetch(nginx.url + "/down").metrics
            #expect(metrics.redirects == 1 && metrics.url == nginx.url + "/small")
        }
    }

    @Test("the metrics of a refused connection have no times for a request")
    func refused() async throws {
        let transferClient = try TransferClient()
        defer { transferClient.close() }
        let record = await transferClient.fetch("http://127.0.0.1:1/")
        #expect(!record.metrics.reusedConnection && record.metrics.requestStart == nil)
        #expect(record.metrics.responseStart == nil && record.metrics.requestHeaderBytes == 0)
        guard case .failed(_, _, let circumstances) = record.end else {
            Issue.record("the transfer has not failed")
            return
        }
        #expect(circumstances.isUnprocessed)
    }

    @Test("a request that timed out before it was sent may be sent again")
    func unsent() async throws {
        try await withServer { connection in
            connection.waitForEnd()
        } _: { server, transferClient in
            var one = request(server.url.replacing("http:", with: "https:"))
            one.requestTimeoutMilliseconds = 1_000
            let record = await transferClient.fetch(one)
            guard case .failed(let failure, _, let circumstances) = record.end else {
                Issue.record("the transfer has not failed")
                return
            }
            #expect(failure.status == .requestTimeout && circumstances.isUnprocessed)
        }
    }
}
