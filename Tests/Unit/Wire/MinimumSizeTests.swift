import BackhaulModel
import Testing

@testable import BackhaulWire

@Suite struct MinimumSizeTests {
    private func size<Element: WireElement>(_ element: Element) -> Int {
        var encoder = Encoder()
        encoder.put(element)
        return encoder.bytes.count
    }

    @Test("no element of a list is shorter than what its count is checked against")
    func smallestElements() {
        #expect(size(HeaderField("", "")) == HeaderField.minimumSize)
        #expect(size(Request(url: "")) == Request.minimumSize)
        #expect(size(TaskID.zero) == TaskID.minimumSize)
        #expect(size(EventID.zero) == EventID.minimumSize)
        #expect(size(Enqueued(task: .zero, disposition: .new)) == Enqueued.minimumSize)
        #expect(
            size(Event(id: .zero, round: 0, timeMilliseconds: 0, kind: .sessionFinished)) == Event.minimumSize)
        let session = SessionInfo(
            identifier: "", round: 0, liveTasks: 0, events: 0, hasFinishedRound: false, isInvalidating: false,
            consumer: 0, createdMilliseconds: 0, newestEvent: .zero)
        #expect(size(session) == SessionInfo.minimumSize)
        #expect(size("") == String.minimumSize)
        #expect(
            size(LaunchInfo(application: "", command: LaunchCommand(program: ""))) == LaunchInfo.minimumSize)
        let challenge = Challenge(
            id: ChallengeID(rawValue: 0), space: ProtectionSpace(kind: .server, origin: "", realm: nil), schemes: [],
            failures: 0, timeMilliseconds: 0, waitingTasks: 0)
        #expect(size(challenge) == Challenge.minimumSize)
        let progress = Progress(
            task: .zero, state: .running, reason: .none, offset: 0, size: nil, bytesPerSecond: 0)
        #expect(size(progress) == Progress.minimumSize)
        let task = TaskInfo(
            id: .zero, round: 0, state: .waiting, reason: .none, reasonText: nil, nextAttemptMilliseconds: 0, url: "",
            destinationPath: nil, idempotencyKey: nil, userData: nil, priority: 0, failure: nil, httpStatus: 0,
            attempts: 0, offset: 0, size: nil, bytesPerSecond: 0, enqueuedMilliseconds: 0)
        #expect(size(task) == TaskInfo.minimumSize)
        #expect(size(FormPart(name: "", content: .value([]))) == FormPart.minimumSize)
        #expect(size(Wait(.power, "", beganMilliseconds: 0, endedMilliseconds: nil)) == Wait.minimumSize)
        let condition = ConditionInfo(
            kind: .battery, isKnown: false, value: 0, text: "", source: "", sinceMilliseconds: 0)
        #expect(size(condition) == ConditionInfo.minimumSize)
        let hold = HoldInfo(
            application: "", session: "", hold: Hold(.power, ""), beganMilliseconds: 0, tasks: 0)
        #expect(size(hold) == HoldInfo.minimumSize)
        #expect(size(NetworkInfo(NetworkSettings(name: ""))) == NetworkInfo.minimumSize)
        let activity = ActivityInfo(
            identifier: "", intervalMilliseconds: 0, toleranceMilliseconds: 0, repeats: true,
            qualityOfService: .background, nextMilliseconds: 0)
        #expect(size(activity) == ActivityInfo.minimumSize)
        #expect(size(Attempt(task: .zero, number: 1, next: .end)) == Attempt.minimumSize)
    }
}
