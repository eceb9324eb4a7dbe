import BackhaulModel
import Testing

@Suite("Protocols of uploads that continue")
struct UploadProtocolTests {
    static let size: UInt64 = 100
    static let known = UploadResource(.ietf, url: "http://a/u", offset: 10)

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
        case .next, .parts, .tookPart: "?"
        case .startOver: "start over"
        case .later: "later"
        }
    }

    @Test(
        "the response to a request for the offset",
        arguments: [
            (204, ["Upload-Offset": "40", "Upload-Complete": "?0"], "append 60 at 40", "append 60 at 40"),
            (200, ["Upload-Offset": "40", "Upload-Limit": "max-append-size=25"], "append 60 at 40", "append 60 at 40"),
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
            (400, [:], "start over", "start over"), (401, [:], "later", "later"), (407, [:], "later", "later"),
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
            (422, ["Upload-Complete": "?1"], "answer, forgets", "answer"), (413, [:], "answer", "answer"),
            (403, [:], "answer", "answer"), (410, [:], "start over", "start over"),
            (204, ["Upload-Complete": "?0"], "probe", "probe"), (204, [:], "probe", "probe"),
            (204, ["Upload-Offset": "100"], "probe", "complete"),
            (204, ["Upload-Offset": "60"], "probe", "append 40 at 60"),
            (204, ["Upload-Offset": "10"], "probe", "probe"), (204, ["Upload-Offset": "500"], "probe", "probe"),
            (409, ["Upload-Offset": "40"], "probe", "probe"), (460, [:], "probe", "probe"),
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
        "after a part of the body, the server can neither have ended the upload nor have more than was sent",
        arguments: [
            (204, ["Upload-Complete": "?0"], "append 70 at 30", "probe"),
            (200, ["Upload-Complete": "?1"], "start over", "probe"),
            (204, ["Upload-Offset": "30"], "append 70 at 30", "append 70 at 30"),
            (204, ["Upload-Offset": "31"], "probe", "probe"),
        ] as [(Int32, [String: String], String, String)])
    func appendedPart(_ status: Int32, _ fields: [String: String], _ ietf: String, _ tus: String) {
        let step = UploadStep.append(Self.known, count: 20)
        for (uploadProtocol, expected) in [(UploadProtocol.ietf, ietf), (.tus, tus)] {
            let verdict = uploadProtocol.verdict(
                Self.head(status, fields), location: nil, after: step, wasBodySent: true, resource: Self.known,
                size: Self.size)
            #expect(Self.word(verdict) == expected)
        }
    }

    @Test("a limit of less than 64 KiB does not make the engine send a request for each byte")
    func leastLimit() {
        let head = Self.head(204, ["Upload-Offset": "40", "Upload-Limit": "max-append-size=1"])
        let verdict = UploadProtocol.ietf.verdict(
            head, location: nil, after: .probe(Self.known), wasBodySent: true, resource: Self.known, size: 1 << 20)
        #expect(Self.word(verdict) == "append 65536 at 40")
    }

    @Test(
        "an error in response to the whole body is its answer, except if the server cannot have it all",
        arguments: [
            (200, [:], true, "answer, forgets"), (404, [:], false, "answer, forgets"),
            (500, [:], true, "answer, forgets"), (500, [:], false, "later"),
            (500, ["Upload-Complete": "?1"], false, "answer, forgets"), (500, ["Upload-Complete": "?0"], true, "later"),
            (201, ["Upload-Complete": "?0"], true, "probe"), (400, ["Upload-Complete": "?0"], true, "answer, forgets"),
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
            return uploadProtocol.resource(head, location: location, known: nil, size: Self.size) != nil
        }
        #expect(found(104, "8", "http://a/u", .ietf))
        #expect(!found(104, "7", "http://a/u", .ietf) && !found(104, nil, "http://a/u", .ietf))
        #expect(!found(103, "8", "http://a/u", .ietf) && !found(104, "8", nil, .ietf))
        #expect(found(104, "3", "http://a/u", .apple) && !found(104, "8", "http://a/u", .apple))
        #expect(!found(104, "8", "http://a/u", .plain) && !found(104, "8", "http://a/u", .tus))
    }

    @Test("version 01 of the draft, which Apple's systems use, names what is missing, and has no media type")
    func apple() {
        func fields(_ step: UploadStep) -> [String] {
            UploadProtocol.apple.fields(of: step, size: Self.size).map { "\($0.name): \($0.value)" }
        }
        let version = "Upload-Draft-Interop-Version: 3"
        #expect(fields(.whole) == [version, "Upload-Incomplete: ?0"])
        #expect(fields(.append(Self.known, count: 5)) == [version, "Upload-Incomplete: ?1", "Upload-Offset: 10"])
        #expect(fields(.append(Self.known, count: 90)) == [version, "Upload-Incomplete: ?0", "Upload-Offset: 10"])
        #expect(fields(.probe(Self.known)) == [version])
        let verdict = UploadProtocol.apple.verdict(
            Self.head(204, ["Upload-Offset": "100", "Upload-Incomplete": "?0"]), location: nil,
            after: .probe(Self.known), wasBodySent: true, resource: Self.known, size: Self.size)
        #expect(verdict == .complete)
    }

    @Test("an upload continues by the protocol of its resource, even if the policy names another one now")
    func changedPolicy() {
        var configuration = SessionConfiguration(identifier: "s")
        configuration.policy.resumableUploads = .tus
        let machine = UploadMachine(
            url: "http://a/f", policy: TransferPolicy(configuration), size: Self.size, resource: Self.known)
        #expect(machine.uploadProtocol == .ietf)
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

    @Test(
        "a server that never takes the rest of a body is asked for the offset a few times, and then the attempt ends",
        arguments: [false, true], [409, 460] as [Int32])
    func fruitless(returnsToSmaller: Bool, status: Int32) {
        var machine = UploadMachine(
            url: "http://a/f", policy: TransferPolicy(SessionConfiguration(identifier: "s")), size: 2 << 20,
            resource: Self.known)
        var (requests, hasConcluded, actions) = (0, false, machine.handle(.start))
        while requests < 100, let action = actions.popLast() {
            switch action {
            case .startTransfer(.probe):
                requests += 1
                let offset = returnsToSmaller && requests % 4 == 1 ? "11" : "10"
                actions = machine.handle(.head(Self.head(204, ["Upload-Offset": offset]), nil))
                actions = machine.handle(.transferComplete())
            case .startTransfer(.append):
                requests += 1
                actions = machine.handle(.head(Self.head(status), nil))
                actions = machine.handle(.transferComplete())
            case .openBody: actions = machine.handle(.opened)
            case .record: actions = machine.handle(.recorded)
            default:
                guard case .conclude(.retry(let failure)) = action else { continue }
                hasConcluded = true
                // 409 is the status of a lock, after which the task is tried again later.
                let expected = status == 409 ? Status.httpStatus : Status.badResponse
                #expect(failure.status == expected && failure.detail == Int64(status))
            }
        }
        #expect(hasConcluded && requests < 16)
    }

    @Test("each response of an attempt has the limits for itself, and an old head does not stay")
    func limitsOfEachResponse() {
        var machine = UploadMachine(
            url: "http://a/f", policy: TransferPolicy(SessionConfiguration(identifier: "s")), size: 2 << 20,
            resource: Self.known)
        _ = machine.handle(.start)
        _ = machine.handle(.head(Self.head(204, ["Upload-Offset": "10"]), nil))
        _ = machine.handle(.received(count: Limits.errorBodySize - 1))
        #expect(machine.handle(.transferComplete()) == [.openBody(.append(Self.known, count: (2 << 20) - 10))])
        #expect(machine.head == nil)
        _ = machine.handle(.opened)
        _ = machine.handle(.head(Self.head(409), nil))
        #expect(machine.handle(.received(count: 1)) == [])
        #expect(machine.bytesReceived == UInt64(Limits.errorBodySize))
    }
}
