import BackhaulModel
import Testing

@Suite("Protocols of uploads that continue")
struct UploadProtocolTests {
    static let size: UInt64 = 100
    static let known = UploadResource(url: "http://a/u", offset: 10)

    static func head(_ status: Int32, _ fields: [String: String] = [:]) -> ResponseHead {
        ResponseHead(
            status: status, finalURL: "http://a/f", isMultiplexed: false,
            fields: fields.sorted { $0.key < $1.key }.map { ResponseField($0.key, $0.value) }, origin: "http://a:80")
    }

    /// The verdict in one word, with the offset of a following request.
    static func word(_ verdict: UploadVerdict) -> String {
        switch verdict {
        case .answer(let forgets): forgets ? "answer, forgets" : "answer"
        case .complete: "complete"
        case .next(.append(let resource, let count), _): "append \(count) at \(resource.offset)"
        case .next(.probe, _): "probe"
        case .next: "?"
        case .startOver: "start over"
        case .later: "later"
        }
    }

    @Test(
        "the response to a request for the offset",
        arguments: [
            (204, ["Upload-Offset": "40", "Upload-Complete": "?0"], "append 60 at 40", "append 60 at 40"),
            (200, ["Upload-Offset": "40", "Upload-Limit": "max-append-size=25"], "append 25 at 40", "append 25 at 40"),
            (204, ["Upload-Offset": "40", "Upload-Limit": "max-append-size=0"], "append 60 at 40", "append 60 at 40"),
            (204, ["Upload-Offset": "100", "Upload-Complete": "?1"], "complete", "complete"),
            (204, ["Upload-Offset": "100", "Upload-Complete": "?0"], "append 0 at 100", "complete"),
            (204, ["Upload-Offset": "40", "Upload-Complete": "?1"], "start over", "append 60 at 40"),
            (204, ["Upload-Offset": "101"], "start over", "start over"),
            (204, ["Upload-Offset": "-1"], "start over", "start over"),
            (204, ["Upload-Offset": "4.5"], "start over", "start over"),
            (204, ["Upload-Offset": "40", "Upload-Length": "99"], "start over", "start over"),
            (204, [:], "start over", "start over"),
            (404, [:], "start over", "start over"), (410, [:], "start over", "start over"),
            (403, [:], "start over", "start over"),
            (409, [:], "later", "later"), (423, [:], "later", "later"), (429, [:], "later", "later"),
            (500, [:], "later", "later"), (503, [:], "later", "later"),
        ] as [(Int32, [String: String], String, String)])
    func probed(_ status: Int32, _ fields: [String: String], _ ietf: String, _ tus: String) {
        for (uploadProtocol, expected) in [(UploadProtocol.ietf, ietf), (.tus, tus)] {
            let verdict = uploadProtocol.verdict(
                Self.head(status, fields), location: nil, after: .probe(Self.known), wasBodySent: true,
                resource: Self.known, size: Self.size)
            #expect(Self.word(verdict) == expected)
        }
    }

    @Test(
        "the response to the rest of the body",
        arguments: [
            (200, ["Upload-Complete": "?1"], "answer, forgets", "probe"),
            (422, ["Upload-Complete": "?1"], "answer, forgets", "start over"),
            (204, ["Upload-Complete": "?0"], "probe", "probe"), (204, [:], "probe", "probe"),
            (204, ["Upload-Offset": "100"], "probe", "complete"),
            (204, ["Upload-Offset": "60"], "probe", "append 40 at 60"),
            (204, ["Upload-Offset": "10"], "probe", "probe"), (204, ["Upload-Offset": "500"], "probe", "probe"),
            (409, ["Upload-Offset": "40"], "probe", "probe"), (460, [:], "start over", "probe"),
            (404, [:], "start over", "start over"), (423, [:], "later", "later"), (502, [:], "later", "later"),
        ] as [(Int32, [String: String], String, String)])
    func appended(_ status: Int32, _ fields: [String: String], _ ietf: String, _ tus: String) {
        let step = UploadStep.append(Self.known, count: 90)
        for (uploadProtocol, expected) in [(UploadProtocol.ietf, ietf), (.tus, tus)] {
            let verdict = uploadProtocol.verdict(
                Self.head(status, fields), location: nil, after: step, wasBodySent: true, resource: Self.known,
                size: Self.size)
            #expect(Self.word(verdict) == expected)
        }
    }

    @Test(
        "an error in response to the whole body is its answer, except if the server cannot have it all",
        arguments: [
            (200, [:], true, "answer, forgets"), (404, [:], false, "answer, forgets"),
            (500, [:], true, "answer, forgets"), (500, [:], false, "later"),
            (500, ["Upload-Complete": "?1"], false, "answer, forgets"), (500, ["Upload-Complete": "?0"], true, "later"),
        ] as [(Int32, [String: String], Bool, String)])
    func whole(_ status: Int32, _ fields: [String: String], _ wasBodySent: Bool, _ expected: String) {
        let verdict = UploadProtocol.ietf.verdict(
            Self.head(status, fields), location: nil, after: .whole, wasBodySent: wasBodySent, resource: Self.known,
            size: Self.size)
        #expect(Self.word(verdict) == expected)
    }

    @Test("only an interim response with status 104, the version of the draft and a location announces a resource")
    func announced() {
        func found(_ status: Int32, _ version: String?, _ location: String?, _ uploadProtocol: UploadProtocol) -> Bool {
            let head = Self.head(status, version.map { ["Upload-Draft-Interop-Version": $0] } ?? [:])
            return uploadProtocol.resource(head, location: location, after: .whole) != nil
        }
        #expect(found(104, "8", "http://a/u", .ietf))
        #expect(!found(104, "7", "http://a/u", .ietf) && !found(104, nil, "http://a/u", .ietf))
        #expect(!found(103, "8", "http://a/u", .ietf) && !found(104, "8", nil, .ietf))
        #expect(!found(104, "8", "http://a/u", .plain) && !found(104, "8", "http://a/u", .tus))
    }

    @Test("by itself, the engine uses the draft for large bodies of hosts that do not use such a protocol themselves")
    func automatic() {
        let large = UploadProtocol.automaticSize
        #expect(
            UploadProtocol(.automatic, size: large) == .ietf && UploadProtocol(.automatic, size: large - 1) == .plain)
        let own = [HeaderField("upload-offset", "7")]
        #expect(UploadProtocol(.automatic, size: large, headers: own) == .plain)
        #expect(UploadProtocol(.tus, size: 1, headers: [HeaderField("Upload-Metadata", "a Yg==")]) == .tus)
    }

    @Test("a server that never takes the rest of a body is asked for the offset a few times, and then the attempt ends")
    func fruitless() {
        var machine = UploadMachine(
            url: "http://a/f", policy: TransferPolicy(SessionConfiguration(identifier: "s")), size: 2 << 20,
            resource: Self.known)
        var (requests, actions) = (0, machine.handle(.start))
        while requests < 100, let action = actions.popLast() {
            switch action {
            case .startTransfer(.probe):
                requests += 1
                actions = machine.handle(.head(Self.head(204, ["Upload-Offset": "10"]), nil))
                actions = machine.handle(.transferComplete())
            case .startTransfer(.append):
                requests += 1
                actions = machine.handle(.head(Self.head(409), nil))
                actions = machine.handle(.transferComplete())
            case .openBody: actions = machine.handle(.opened)
            case .record: actions = machine.handle(.recorded)
            default:
                #expect(requests < 12)
                guard case .conclude(.retry(let failure, _)) = action else { continue }
                #expect(failure.message.contains("does not take the rest of the body"))
            }
        }
        #expect(requests < 12)
    }
}
