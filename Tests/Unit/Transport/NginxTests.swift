import BackhaulModel
import BackhaulTransport
import Testing

@Suite("Transfers from nginx", .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct NginxTests {
    private static let small = pattern(16_384)
    private static let large = pattern(2_000_000, seed: 2)
    private static let files = ["small": small, "large": large]

    @Test("a transfer uses HTTP/2 with TLS, and HTTP/1.1 without TLS")
    func versions() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let encrypted = await transferClient.fetch(request(nginx.tlsURL + "/large", caFile: nginx.caFile))
            #expect(encrypted.end == .complete)
            #expect(encrypted.head?.isMultiplexed == true)
            #expect(encrypted.hasBody(Self.large))
            let plain = await transferClient.fetch(nginx.url + "/large")
            #expect(plain.end == .complete)
            #expect(plain.head?.isMultiplexed == false)
            #expect(plain.hasBody(Self.large))
        }
    }

    @Test("transfers over HTTP/2 share a connection")
    func shared() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let request = request(nginx.tlsURL + "/small", caFile: nginx.caFile)
            let records = await transferClient.fetchAll(Array(repeating: request, count: 60))
            #expect(records.allSatisfy { $0.end == .complete && $0.hasBody(Self.small) })
            #expect(records.filter { !$0.metrics.reusedConnection }.count == 1)
        }
    }

    @Test("all transfers succeed even if the server closes each connection after some requests")
    func connectionsEnd() async throws {
        // nginx closes each connection after 1,000 requests. For HTTP/2, nginx sends a GOAWAY frame before it closes.
        try await withNginx(Self.files) { nginx, transferClient in
            for base in [nginx.url, nginx.tlsURL] {
                let request = request(base + "/small", caFile: nginx.caFile)
                let records = await transferClient.fetchAll(Array(repeating: request, count: 2_500), atOnce: 32)
                #expect(records.count == 2_500)
                #expect(records.allSatisfy { $0.end == .complete && $0.hasBody(Self.small) })
            }
        }
    }

    @Test("a range request gets a 206 if the validator matches, or else a 200 with the whole file")
    func ranges() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let whole = await transferClient.fetch(nginx.url + "/large")
            var rest = request(nginx.url + "/large")
            rest.range = (1_500_000, nil)
            rest.ifRange = whole.head?.value("ETag")
            let record = await transferClient.fetch(rest)
            #expect(record.head?.status == 206)
            #expect(record.head?.value("Content-Range") == "bytes 1500000-1999999/2000000")
            #expect(record.hasBody(Array(Self.large[1_500_000...])))
            rest.ifRange = "\"another\""
            let changed = await transferClient.fetch(rest)
            #expect(changed.head?.status == 200)
            #expect(changed.hasBody(Self.large))
        }
    }

    @Test("a certificate of an untrusted authority causes a permanent failure")
    func untrusted() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let record = await transferClient.fetch(nginx.tlsURL + "/small")
            #expect(record.failure?.status == .tlsFailed)
            #expect(record.isTransient == false)
            #expect(record.heads == 0)
            // The second request trusts the authority. The third request does not, so it fails like the first one.
            let trusted = await transferClient.fetch(request(nginx.tlsURL + "/small", caFile: nginx.caFile))
            #expect(trusted.end == .complete)
            let again = await transferClient.fetch(nginx.tlsURL + "/small")
            #expect(again.failure?.status == .tlsFailed)
        }
    }

    @Test("each name in the server's certificate is accepted", arguments: ["127.0.0.1", "localhost"])
    func ownName(name: String) async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let record = await transferClient.fetch(
                request("https://\(name):\(nginx.tlsPort)/small", caFile: nginx.caFile))
            #expect(record.end == .complete)
        }
    }

    // libcurl resolves names below "localhost" to loopback (RFC 6761, section 6.3).
    @Test("a certificate for another name causes a permanent failure", arguments: ["127.0.0.2", "other.localhost"])
    func otherName(name: String) async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let record = await transferClient.fetch(
                request("https://\(name):\(nginx.tlsPort)/small", caFile: nginx.caFile))
            #expect(record.failure?.status == .tlsFailed)
            #expect(record.failure?.message.contains("is for another name") == true)
            #expect(record.isTransient == false)
            #expect(record.heads == 0)
        }
    }

    @Test("an unreadable CA file causes a failure whose message has the file's path")
    func missingCertificates() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let record = await transferClient.fetch(request(nginx.tlsURL + "/small", caFile: "/nonexistent/ca.pem"))
            #expect(record.failure?.status == .tlsFailed)
            #expect(record.isTransient == false)
            #expect(record.failure?.message.contains("/nonexistent/ca.pem") == true)
        }
    }

    @Test("a redirect from https to http is refused")
    func downgrade() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let record = await transferClient.fetch(request(nginx.tlsURL + "/down", caFile: nginx.caFile))
            #expect(record.failure?.status == .redirectRefused)
        }
    }

    @Test("a paused HTTP/2 transfer loses no bytes and does not delay other transfers on its connection")
    func pausedStream() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let (tlsURL, caFile) = (nginx.tlsURL, nginx.caFile)
            let records: [TransferRecord] = await transferClient.event { client, done in
                let (held, other) = (RecordingDelegate(), RecordingDelegate())
                client.kept += [held, other]
                var isHeld = true
                held.acceptsBytes = { _ in !isHeld }
                other.onEnd = { _ in
                    isHeld = false
                    held.transfer?.resume()
                }
                held.onEnd = { _ in done([held.record, other.record]) }
                held.onHead = { _ in
                    other.transfer = try? client.transport.start(request(tlsURL + "/large", caFile: caFile), other)
                    return .receive
                }
                held.transfer = try? client.transport.start(request(tlsURL + "/large", caFile: caFile), held)
            }
            #expect(records.allSatisfy { $0.end == .complete && $0.hasBody(Self.large) })
            #expect(records[1].metrics.reusedConnection)
        }
    }

    @Test("a cancelled HTTP/2 transfer does not affect other transfers on its connection")
    func cancelledStream() async throws {
        try await withNginx(Self.files) { nginx, transferClient in
            let (tlsURL, caFile) = (nginx.tlsURL, nginx.caFile)
            let records: [TransferRecord] = await transferClient.event { client, done in
                var records: [TransferRecord] = []
                for number in 0..<20 {
                    let recorder = RecordingDelegate()
                    client.kept.append(recorder)
                    recorder.onBytes = { transfer in
                        if number % 2 == 0 { transfer.cancel() }
                        return .go
                    }
                    recorder.onEnd = { record in
                        records.append(record)
                        if records.count == 10 { done(records) }
                    }
                    recorder.transfer = try? client.transport.start(
                        request(tlsURL + "/large", caFile: caFile), recorder)
                }
            }
            #expect(records.allSatisfy { $0.end == .complete && $0.hasBody(Self.large) })
        }
    }

    @Test("the exit of the server during a transfer counts as a lost connection", arguments: [false, true])
    func serverEnds(overTLS: Bool) async throws {
        let nginx = try Nginx(files: Self.files)
        let transferClient = try TransferClient()
        let url = (overTLS ? nginx.tlsURL : nginx.url) + "/slow/large"
        let record = await transferClient.fetch(request(url, caFile: nginx.caFile)) { recorder, _ in
            recorder.onBytes = { _ in
                nginx.stop()
                return .go
            }
        }
        #expect(record.failure?.status == .connectionLost)
        #expect(record.isTransient == true)
        transferClient.close()
    }
}
