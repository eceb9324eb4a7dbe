import BackhaulModel
import Testing

/// An *early response* ends before the whole request body was sent.
@Suite("An attempt of an upload")
struct UploadMachineTests {
    typealias Machine = UploadMachine

    static let lost = Failure(.connectionLost, "broken")
    static let changed = Failure(.bodyChanged, "changed")
    static let late = Failure(.resourceTimeout, "late")
    static let challenge = AuthenticationChallenge(
        head(401, [ResponseField("WWW-Authenticate", "Basic realm=\"a\"")]))

    static func head(_ status: Int32, _ fields: [ResponseField] = [], url: String = "http://a/") -> ResponseHead {
        ResponseHead(
            status: status, finalURL: url, isMultiplexed: false, fields: fields, retryAfterSeconds: nil,
            origin: "http://a:80")
    }

    static func machine(_ change: (inout SessionConfiguration) -> Void = { _ in }) -> Machine {
        var configuration = SessionConfiguration(identifier: "s")
        change(&configuration)
        return Machine(url: "http://a/", policy: TransferPolicy(configuration))
    }

    /// Returns the actions that follow each event.
    static func actions(_ machine: inout Machine, _ events: [Machine.Event]) -> [[Machine.Action]] {
        events.map { machine.handle($0) }
    }

    @Test("an upload opens its body, then transfers the body, then releases its slot, and then ends")
    func succeeds() {
        var machine = Self.machine()
        let actions = Self.actions(
            &machine,
            [.start, .opened, .head(Self.head(201), nil), .received(count: 5), .transferComplete(), .concluded])
        #expect(
            actions == [
                [.openBody(.whole)], [.startTransfer(.whole)], [], [], [.releaseSlot, .conclude(.succeeded)], [.close],
            ])
        #expect(machine.phase == .over && machine.bytesReceived == 5)
    }

    @Test(
        "an upload with an error status asks the engine for a retry, and fails if the engine refuses",
        arguments: [
            Int32(301), 404, 413, 503,
        ])
    func refused(status: Int32) {
        var machine = Self.machine()
        let actions = Self.actions(
            &machine, [.start, .opened, .head(Self.head(status), nil), .received(count: 5_000)])
        guard case .conclude(.retry(let failure)) = actions.last?.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(failure.status == .httpStatus && failure.detail == Int64(status))
        #expect(actions.last?.first == .stopTransfer, "only the start of the body is read")
        #expect(machine.handle(.retryRefused) == [.conclude(.failed(failure))])
    }

    @Test("an upload succeeds with a status that the session accepts")
    func accepted() {
        var machine = Self.machine { $0.acceptedStatuses = StatusList("409") ?? .successful }
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(409), nil)])
        #expect(machine.handle(.transferComplete()) == [.releaseSlot, .conclude(.succeeded)])
    }

    @Test("an upload that was redirected to a login page does not succeed, except if the policy accepts pages")
    func loginPage() {
        let page = Self.head(200, [ResponseField("Content-Type", "text/html")], url: "http://a/login")
        for types in [nil, "image/*", "text/html"] {
            var machine = Self.machine { $0.policy.acceptedTypes = types }
            _ = Self.actions(&machine, [.start, .opened, .head(page, nil)])
            let actions = machine.handle(.transferComplete())
            if types == "text/html" {
                #expect(actions == [.releaseSlot, .conclude(.succeeded)])
            } else if case .conclude(.retry(let failure))? = actions.last {
                #expect(failure.status == .unexpectedType && failure.message.contains("http://a/login"))
            } else {
                Issue.record("\(actions)")
            }
        }
    }

    @Test("an early response causes a retry of an upload; with a tolerance for early responses, the upload succeeds")
    func earlyResponse() {
        for isTolerated in [false, true] {
            var machine = Self.machine { if isTolerated { $0.tolerances = .earlyResponse } }
            _ = Self.actions(&machine, [.start, .opened, .head(Self.head(201), nil)])
            let actions = machine.handle(.transferComplete(wasBodySent: false))
            if isTolerated {
                #expect(actions == [.releaseSlot, .conclude(.succeeded)])
            } else if case .conclude(.retry(let failure))? = actions.last {
                #expect(failure.status == .connectionLost && failure.detail == 201)
            } else {
                Issue.record("\(actions)")
            }
        }
    }

    @Test("an upload reads the body of an error response only for a limited time")
    func drippingErrorBody() {
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(404), nil), .received(count: 1)])
        for _ in 1..<UploadMachine.ResponseLimits().errorTicks { #expect(machine.handle(.tick()) == []) }
        #expect(machine.handle(.tick()).first == .stopTransfer)
    }

    @Test("an upload that gets a challenge waits for the credential")
    func credential() throws {
        let challenge = try #require(Self.challenge)
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(401), challenge)])
        #expect(machine.handle(.transferComplete()) == [.releaseSlot, .conclude(.credential(challenge))])
        #expect(machine.handle(.retryRefused) == [.conclude(.failed(challenge.failure))])
    }

    @Test("an upload with an incomplete response is retried")
    func brokenAnswer() {
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(200), nil), .received(count: 5)])
        #expect(
            machine.handle(.transferFailed(Self.lost, isTransient: true)) == [
                .releaseSlot, .conclude(.retry(Self.lost)),
            ])
    }

    @Test("an upload fails immediately after a permanent error or a change of its body")
    func final() {
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened])
        #expect(
            machine.handle(.transferFailed(Failure(.tlsFailed, "no"), isTransient: false)).last
                == .conclude(.failed(Failure(.tlsFailed, "no"))))
        var other = Self.machine()
        _ = Self.actions(&other, [.start, .opened])
        #expect(
            other.handle(.bodyFailed(Self.changed)) == [
                .stopTransfer, .releaseSlot, .conclude(.failed(Self.changed)),
            ])
    }

    @Test(
        "if the file has changed, an upload fails at its first byte, and otherwise starts again one time",
        arguments: [0, 50] as [UInt64])
    func changedFile(offset: UInt64) {
        var machine = Machine(
            url: "http://a/", policy: TransferPolicy(SessionConfiguration(identifier: "s")), size: 100,
            resource: UploadResource(.tus, url: "http://a/1", offset: offset))
        let head = UploadProtocolTests.head(200, ["Upload-Offset": String(offset), "Upload-Length": "100"])
        _ = Self.actions(&machine, [.start, .head(head, nil), .transferComplete()])
        #expect(
            machine.handle(.bodyFailed(Self.changed)).last
                == .conclude(offset == 0 ? .failed(Self.changed) : .startOver(Self.changed)))
    }

    @Test(
        "an upload is retried if its file cannot be read now: no descriptor is free, the disk fails, or it is away",
        arguments: [Status.outOfResources, .diskFailed, .storageAway])
    func unreadable(status: Status) {
        let failure = Failure(status, "not now")
        var machine = Self.machine()
        _ = machine.handle(.start)
        #expect(
            machine.handle(.bodyFailed(failure)) == [.releaseSlot, .conclude(.retry(failure))])
    }

    @Test("after an early response, a body that cannot be read any more, or a time-out, ends the upload")
    func unreadableAfterEarlyResponse() {
        for isTolerated in [false, true] {
            for event in [Machine.Event.bodyFailed(Self.late), .expire(Self.late, wasBodySent: false)] {
                var machine = Self.machine { if isTolerated { $0.tolerances = .earlyResponse } }
                _ = Self.actions(&machine, [.start, .opened, .head(Self.head(200), nil, wasBodySent: false)])
                let end = Machine.Conclusion.failed(Self.late)
                #expect(
                    machine.handle(event) == [.stopTransfer, .releaseSlot, .conclude(isTolerated ? .succeeded : end)])
            }
        }
    }

    @Test("after its time-out, an upload receives the body of an accepted response only for a limited time")
    func endlessAfterTimeout() {
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(200), nil)])
        let actions = (0..<UploadMachine.ResponseLimits().bodyTicks).map { _ in machine.handle(.expire(Self.late)) }
        #expect(actions.last == [.stopTransfer, .releaseSlot, .conclude(.succeeded)])
    }

    @Test("an upload with an endless response succeeds after it has read a limited part of the response")
    func endless() {
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(200), nil)])
        #expect(machine.handle(.received(count: 1 << 20)) == [.stopTransfer, .releaseSlot, .conclude(.succeeded)])
        #expect(machine.handle(.received(count: .max)) == [])
    }

    @Test(
        "a response counts as whole only if its body has ended within the limits of size and time",
        arguments: [(0, 0, true), (65_536, 29, true), (65_537, 0, false), (5, 30, false)])
    func whole(bytes: Int, ticks: Int, isWhole: Bool) {
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(200), nil), .received(count: bytes)])
        for _ in 0..<ticks { _ = machine.handle(.tick()) }
        _ = machine.handle(.transferComplete())
        #expect(machine.hasWholeResponse == isWhole)
    }

    @Test("an upload does not time out after a response with an accepted status")
    func lateAnswer() {
        var machine = Self.machine()
        _ = Self.actions(&machine, [.start, .opened, .head(Self.head(200), nil)])
        #expect(machine.handle(.expire(Self.late)) == [])
        var other = Self.machine()
        _ = Self.actions(&other, [.start, .opened])
        #expect(
            other.handle(.expire(Self.late)) == [.stopTransfer, .releaseSlot, .conclude(.failed(Self.late))])
    }

    @Test("with events in any order, an upload ends exactly one time and releases its slot exactly one time")
    func anyOrder() {
        let events: [Machine.Event] = [
            .start, .opened, .head(Self.head(200), nil), .head(Self.head(500), nil),
            .head(Self.head(401), Self.challenge), .received(count: 70_000), .transferComplete(),
            .transferFailed(Self.lost, isTransient: true), .transferFailed(Self.lost, isTransient: false),
            .bodyFailed(Self.changed), .concluded, .retryRefused, .cancel, .stop, .expire(Self.late),
        ]
        var random = Random(seed: 1)
        for _ in 0..<5_000 {
            var machine = Self.machine()
            var seen: [Machine.Action] = []
            var given: [Machine.Event] = []
            for _ in 0..<12 {
                let event = events[Int.random(in: 0..<events.count, using: &random)]
                given.append(event)
                seen += machine.handle(event)
            }
            for event in [Machine.Event.cancel, .concluded] { seen += machine.handle(event) }
            #expect(seen.count { $0 == .close } == 1, "\(given)")
            #expect(seen.last == .close && machine.phase == .over)
            #expect(seen.count { $0 == .releaseSlot } == 1, "\(given)")
            #expect(seen.count { $0 == .startTransfer(.whole) } <= 1 && seen.count { $0 == .stopTransfer } <= 1)
            if seen.contains(.stopTransfer) { #expect(seen.contains(.startTransfer(.whole))) }
        }
    }

    @Test("a pause that came with a refusal is forgotten when the upload continues with another step")
    func pauseOfEarlierStep() {
        var machine = UploadMachine(
            url: "http://a/f", policy: TransferPolicy(SessionConfiguration(identifier: "s")), size: 100,
            resource: UploadProtocolTests.known)
        let offset = UploadProtocolTests.head(204, ["Upload-Offset": "40", "Upload-Complete": "?0"])
        let conflict = ResponseHead(
            status: 409, finalURL: "", isMultiplexed: false, fields: [], retryAfterSeconds: 60, origin: "http://a:80")
        let events: [UploadMachine.Event] = [
            .start, .head(offset, nil), .transferComplete(), .recorded, .opened, .head(conflict, nil),
        ]
        _ = Self.actions(&machine, events)
        #expect(machine.phase == .settling && machine.demandedDelay == nil)
    }
}
