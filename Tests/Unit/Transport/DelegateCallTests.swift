import BackhaulLoop
import BackhaulModel
import BackhaulTransport
import Testing

/// A *delegate* is the object that a transfer calls with the head, the body and the end of its response.
@Suite("A delegate's call")
struct DelegateCallTests {
    private static let body = pattern(400_000)

    /// Sends `body` in the response to each request of a connection.
    @Sendable private static func serve(_ connection: RawServer.Connection) {
        while connection.readRequest() != nil {
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            connection.send(body)
        }
    }

    enum Moment: CaseIterable, Sendable { case head, bytes }

    @Test("a delegate that cancels its transfer gets no more calls", arguments: Moment.allCases)
    func cancel(moment: Moment) async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let record: TransferRecord = await transferClient.event { client, done in
                let recorder = RecordingDelegate()
                client.kept.append(recorder)
                // The test ends when this second transfer ends. If the cancellation had no effect, all calls for the
                // first transfer would arrive before the end of the second transfer.
                let witness = RecordingDelegate()
                client.kept.append(witness)
                witness.onEnd = { _ in done(recorder.record) }
                let cancel: (Transfer) -> Void = { transfer in
                    transfer.cancel()
                    witness.transfer = try? client.transport.start(request(url), witness)
                }
                recorder.onHead = { transfer in
                    if moment == .head { cancel(transfer) }
                    return .receive
                }
                recorder.onBytes = { transfer in
                    if moment == .bytes { cancel(transfer) }
                    return .go
                }
                recorder.transfer = try? client.transport.start(request(url), recorder)
            }
            #expect(record.heads == 1)
            #expect(record.chunks == (moment == .bytes ? 1 : 0))
            #expect(record.ends == 0)
        }
    }

    @Test("if a delegate refuses the body, the transfer ends as refused")
    func refuse() async throws {
        try await withServer(Self.serve) { server, transferClient in
            let record = await transferClient.fetch(request(server.url)) { recorder, _ in
                recorder.onHead = { _ in .refuse }
            }
            #expect(record.end == .refused)
            #expect(record.chunks == 0)
        }
    }

    @Test("a delegate may start another transfer during a call", arguments: Moment.allCases)
    func start(moment: Moment) async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let records: [TransferRecord] = await transferClient.event { client, done in
                var records: [TransferRecord] = []
                let (first, second) = (RecordingDelegate(), RecordingDelegate())
                client.kept += [first, second]
                let startSecond = {
                    guard second.transfer == nil, second.record.ends == 0 else { return }
                    second.transfer = try? client.transport.start(request(url), second)
                }
                for recorder in [first, second] {
                    recorder.onEnd = { record in
                        records.append(record)
                        if records.count == 2 { done(records) }
                    }
                }
                first.onHead = { _ in
                    if moment == .head { startSecond() }
                    return .receive
                }
                first.onBytes = { _ in
                    if moment == .bytes { startSecond() }
                    return .go
                }
                first.transfer = try? client.transport.start(request(url), first)
            }
            #expect(records.allSatisfy { $0.end == .complete && $0.hasBody(Self.body) })
        }
    }

    @Test("a delegate may start the next transfer at the end of each transfer")
    func chain() async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let count: Int = await transferClient.event { client, done in
                var count = 0
                let recorder = RecordingDelegate()
                client.kept.append(recorder)
                recorder.onEnd = { record in
                    count += 1
                    guard record.end == .complete, count < 20 else { return done(count) }
                    recorder.transfer = try? client.transport.start(request(url), recorder)
                }
                recorder.transfer = try? client.transport.start(request(url), recorder)
            }
            #expect(count == 20)
        }
    }

    @Test("a delegate may cancel all other transfers during a call")
    func cancelOthers() async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let ends: Int = await transferClient.event { client, done in
                let recorders = (0..<10).map { _ in RecordingDelegate() }
                client.kept += recorders
                for recorder in recorders {
                    recorder.onBytes = { transfer in
                        for other in recorders where other !== recorder { other.transfer?.cancel() }
                        return .go
                    }
                    recorder.onEnd = { _ in
                        client.loop.afterThisIteration { done(recorders.reduce(0) { $0 + $1.record.ends }) }
                    }
                    recorder.transfer = try? client.transport.start(request(url), recorder)
                }
            }
            #expect(ends == 1)
        }
    }

    @Test("if a delegate pauses its transfer, no byte is lost or repeated")
    func pause() async throws {
        try await withServer(Self.serve) { server, transferClient in
            let record = await transferClient.fetch(request(server.url)) { recorder, client in
                var hasPaused = false
                let timer = client.loop.timer { recorder.transfer?.resume() }
                client.kept.append(timer)
                recorder.acceptsBytes = { _ in
                    hasPaused.toggle()
                    if hasPaused { timer.start(milliseconds: 0) }
                    return !hasPaused
                }
            }
            #expect(record.end == .complete)
            #expect(record.hasBody(Self.body))
        }
    }

    @Test("a delegate may pause its transfer for longer than the request time-out")
    func pausedTimeout() async throws {
        // The body is created before the request time-out starts.
        _ = Self.body
        try await withServer(Self.serve) { server, transferClient in
            var request = request(server.url)
            request.requestTimeoutMilliseconds = 10_000
            let record = await transferClient.fetch(request) { recorder, client in
                var pauses = 0
                let timer = client.loop.timer { recorder.transfer?.resume() }
                client.kept.append(timer)
                recorder.acceptsBytes = { _ in
                    pauses += 1
                    if pauses == 1 { timer.start(milliseconds: 11_000) }
                    return pauses > 1
                }
            }
            #expect(record.end == .complete)
            #expect(record.hasBody(Self.body))
        }
    }

    @Test("a paused transfer may be cancelled immediately after its resume")
    func cancelPaused() async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let ends: Int = await transferClient.event { client, done in
                let recorder = RecordingDelegate()
                client.kept.append(recorder)
                recorder.acceptsBytes = { _ in
                    let timer = client.loop.timer {
                        recorder.transfer?.resume()
                        recorder.transfer?.cancel()
                        client.loop.afterThisIteration { done(recorder.record.ends) }
                    }
                    client.kept.append(timer)
                    timer.start(milliseconds: 0)
                    return false
                }
                recorder.transfer = try? client.transport.start(request(url), recorder)
            }
            #expect(ends == 0)
        }
    }

    @Test("after a delegate closes the transport, no delegate gets more calls", arguments: ClosingMoment.allCases)
    func close(moment: ClosingMoment) async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let counts: [Int] = await transferClient.event { client, done in
                let recorders = (0..<4).map { _ in RecordingDelegate() }
                client.kept += recorders
                let count = { recorders.reduce(0) { $0 + $1.record.heads + $1.record.chunks + $1.record.ends } }
                var atClose: Int?
                let close = {
                    guard atClose == nil else { return }
                    client.transport.close()
                    atClose = count()
                    let timer = client.loop.timer { done([atClose ?? -1, count()]) }
                    client.kept.append(timer)
                    timer.start(milliseconds: 20)
                }
                for recorder in recorders {
                    recorder.onHead = { _ in
                        if moment == .head { close() }
                        return .receive
                    }
                    recorder.onBytes = { _ in
                        if moment == .bytes { close() }
                        return .go
                    }
                    recorder.onEnd = { _ in close() }
                    recorder.transfer = try? client.transport.start(request(url), recorder)
                }
            }
            #expect(counts[0] > 0)
            #expect(counts[0] == counts[1])
        }
    }

    enum ClosingMoment: CaseIterable, Sendable { case head, bytes, end }

    @Test("if a delegate is released before its transfer ends, other transfers still succeed")
    func goneDelegate() async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let _: Bool = await transferClient.event { client, done in
                _ = try? client.transport.start(request(url), RecordingDelegate())
                done(true)
            }
            let record = await transferClient.fetch(url)
            #expect(record.end == .complete)
        }
    }

    @Test("many concurrent transfers deliver the right bytes, even if some of them are cancelled")
    func many() async throws {
        try await withServer(Self.serve) { server, transferClient in
            let url = server.url
            let count = 200
            let wrong: Int = await transferClient.event { client, done in
                var left = count
                var wrong = 0
                var random = SystemRandomNumberGenerator()
                let finish = {
                    left -= 1
                    if left == 0 { done(wrong) }
                }
                let recorders = (0..<count).map { _ in RecordingDelegate() }
                client.kept += recorders
                for recorder in recorders {
                    let fate = Int.random(in: 0..<40, using: &random)
                    recorder.onBytes = { transfer in
                        if recorder.record.chunks == fate {
                            transfer.cancel()
                            finish()
                        }
                        return .go
                    }
                    recorder.onEnd = { record in
                        if record.end != .complete || !record.hasBody(Self.body) { wrong += 1 }
                        finish()
                    }
                    recorder.transfer = try? client.transport.start(request(url), recorder)
                }
            }
            #expect(wrong == 0)
        }
    }
}
