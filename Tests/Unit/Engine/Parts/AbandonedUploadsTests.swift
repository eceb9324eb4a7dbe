import BackhaulModel
import BackhaulTransport
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore

@Suite("The removal of abandoned uploads")
struct AbandonedUploadsTests {
    typealias Page = [(upload: AbandonedUpload, configuration: SessionConfiguration)]

    /// A fake transport, whose requests are answered by the test.
    final class Server {
        var requested: [String] = []
        /// What becomes of each request; nil: it is sent.
        var refusal: AbandonedUploads.Sending?
        var needs: ConditionSet = []
        private(set) var answer: (Int32?) -> [EngineEffect] = { _ in [] }

        func send(
            _ upload: AbandonedUpload, _ then: @escaping (Int32?) -> [EngineEffect]
        ) -> AbandonedUploads.Sending {
            if let refusal { return refusal }
            requested.append(upload.url)
            answer = then
            return .sent(self)
        }
    }

    let runtime = FakeRuntime()
    let server = Server()
    let uploads: AbandonedUploads

    init() {
        uploads = AbandonedUploads(
            runtime,
            AbandonedUploads.Surroundings(
                send: { [server] upload, _, then in server.send(upload, then) },
                setNeeds: { [server] in server.needs = $0 }))
    }

    private func page(_ urls: String..., agoMilliseconds: Int64 = 0) -> Page {
        urls.map { url in
            let upload = AbandonedUpload(
                session: SessionID(rawValue: 1), .tus, url: url, requestURL: "http://a/f", headers: [],
                abandonedMilliseconds: runtime.clocks.wallMilliseconds - agoMilliseconds)
            return (upload, SessionConfiguration(identifier: "s"))
        }
    }

    private func answer(_ status: Int32?) { runtime.add(server.answer(status)) }

    @Test("one request after the other is sent, and what the server has removed is forgotten")
    func removed() throws {
        uploads.remove()
        try runtime.storeReturns(page("http://a/1", "http://a/2"))
        #expect(server.requested == ["http://a/1"])
        answer(204)
        try runtime.storeReturns(())
        #expect(server.requested == ["http://a/1", "http://a/2"])
        answer(404)
        try runtime.storeReturns(())
        #expect(uploads.isBusy)
        try runtime.storeReturns(page())
        #expect(!uploads.isBusy)
    }

    @Test(
        "a server that does not respond, or that has a lock, is asked again after five minutes",
        arguments: [nil, 423, 503])
    func again(status: Int32?) throws {
        uploads.remove()
        try runtime.storeReturns(page("http://a/1"))
        answer(status)
        try runtime.storeReturns(page())
        #expect(!uploads.isBusy && runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 299_999)
        #expect(!uploads.isBusy)
        runtime.advance(milliseconds: 1)
        try runtime.storeReturns(page("http://a/1"))
        #expect(server.requested == ["http://a/1", "http://a/1"])
    }

    @Test("an upload to S3 is forgotten only when the server has removed its parts, or does not know it")
    func partsOfS3() {
        let upload = AbandonedUpload(
            session: SessionID(rawValue: 1), .s3, url: "s3://bucket/key?uploadId=1", requestURL: "s3://bucket/key",
            headers: [], abandonedMilliseconds: 0)
        for status in [204, 404] as [Int32] { #expect(upload.isOver(after: status, now: 1)) }
        for status in [400, 403, 503] as [Int32] { #expect(!upload.isOver(after: status, now: 1)) }
    }

    @Test("the request for the removal refuses private addresses if the request of the upload did")
    func privateAddresses() throws {
        for (uploadProtocol, url) in [(UploadProtocol.tus, "http://a/f"), (.s3, "s3://bucket/key")] {
            let upload = AbandonedUpload(
                session: SessionID(rawValue: 1), uploadProtocol, url: url + "?uploadId=1", requestURL: url,
                headers: [], refusesPrivateAddresses: true, abandonedMilliseconds: 0)
            let request = try TransferRequest(
                removing: upload, SessionConfiguration(identifier: "s"), credentials: nil)
            #expect(request.refusesPrivateAddresses)
        }
    }

    @Test("after a week, a server that does not respond is not asked again")
    func forgotten() throws {
        uploads.remove()
        try runtime.storeReturns(page("http://a/1", agoMilliseconds: 7 * 86_400_000))
        answer(nil)
        try runtime.storeReturns(())
        try runtime.storeReturns(page())
        runtime.advance(milliseconds: 86_400_000)
        #expect(!uploads.isBusy)
    }

    @Test("while the conditions of the session are not met, no request is sent and nothing is forgotten")
    func held() throws {
        server.refusal = .held(by: .power, isRead: true)
        uploads.remove()
        try runtime.storeReturns(page("http://a/1", "http://a/2"))
        try runtime.storeReturns(page())
        #expect(server.requested == [] && !uploads.isBusy)
        uploads.conditionsChanged()
        #expect(!uploads.isBusy)
    }

    @Test("conditions of the session that the engine has not read are read, and then the request is sent")
    func unread() throws {
        server.refusal = .held(by: .power, isRead: false)
        uploads.remove()
        try runtime.storeReturns(page("http://a/1"))
        try runtime.storeReturns(page())
        #expect(server.needs == .power)
        server.refusal = nil
        uploads.conditionsChanged()
        try runtime.storeReturns(page("http://a/1"))
        #expect(server.requested == ["http://a/1"])
        answer(204)
        try runtime.storeReturns(())
        try runtime.storeReturns(page())
        #expect(server.needs == [])
    }

    @Test("an upload that is abandoned during a pass is found by a further pass")
    func repeated() throws {
        uploads.remove()
        uploads.remove()
        try runtime.storeReturns(page())
        #expect(uploads.isBusy)
        try runtime.storeReturns(page("http://a/1"))
        #expect(server.requested == ["http://a/1"])
    }
}
