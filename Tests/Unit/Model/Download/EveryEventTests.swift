import BackhaulModel
import TestSupport
import Testing

/// The state machine of a download handles events, and returns actions.
@Suite("Any two events in any phase of a download")
struct EveryEventTests {
    typealias Event = DownloadMachine.Event

    /// Each phase of a download, with the finish intent, the kept checkpoint and the events that lead to this phase.
    static let paths: [(phase: String, intent: FinishIntent?, kept: Checkpoint?, events: [Event])] = [
        ("ready", nil, nil, []),
        ("ready, sealed", .sealed, .kept(500), []),
        ("looking", .sealed, nil, [.start]),
        ("opening", nil, .kept(500), [.start]),
        ("requesting", nil, nil, [.start]),
        ("requesting the rest", nil, .kept(500), [.start, .opened(length: 500)]),
        ("forgetting before the request", nil, .kept(500), [.start, .opened(length: 0)]),
        ("forgetting after the head", nil, .kept(500), [.start, .opened(length: 500), .head(wholeOther)]),
        ("receiving", nil, nil, [.start, .head(whole)]),
        ("receiving, paused", nil, nil, [.start, .head(whole), .received(count: 500)]),
        ("receiving, syncing", nil, nil, [.start, .head(whole), .received(count: 500), .tick]),
        ("receiving slowly", nil, nil, [.start, .head(whole), .received(count: 350), .aged]),
        (
            "receiving slowly, recording", nil, nil,
            [
                .start, .head(whole), .received(count: 350), .appended(length: 350), .aged,
            ]
        ),
        ("receiving the rest", nil, .kept(500), [.start, .opened(length: 500), .head(rest), .received(count: 10)]),
        ("receiving without end", nil, nil, [.start, .head(endless), .received(count: 99)]),
        ("receiving without validator", nil, nil, [.start, .head(unvalidated), .received(count: 99)]),
        ("receiving an error", nil, nil, [.start, .head(head(404)), .received(count: 1)]),
        ("receiving a challenge", nil, nil, [.start, .head(challenge), .received(count: 1)]),
        (
            "receiving a challenge about the rest", nil, .kept(500),
            [
                .start, .opened(length: 500), .head(challenge), .received(count: 1),
            ]
        ),
        (
            "concluding a challenge", nil, .kept(500),
            [
                .start, .opened(length: 500), .head(challenge), .transferComplete,
            ]
        ),
        ("sealing", nil, .kept(500), [.start, .opened(length: 1_000)]),
        ("recording", nil, .kept(500), [.start, .opened(length: 1_000), .sealed(.sealed)]),
        ("placing", nil, .kept(500), [.start, .opened(length: 1_000), .sealed(.sealed), .intentRecorded]),
        ("placing after the deadline", .sealed, nil, [.expire(.timedOut), .sealedFileChecked(isThere: true)]),
        ("saving", nil, nil, [.start, .head(whole), .received(count: 9), .transferFailed(.lost, isTransient: true)]),
        ("saving, syncing", nil, nil, [.start, .head(whole), .received(count: 9), .tick, .received(count: 9), .stop]),
        ("discarding", nil, nil, [.start, .transferFailed(.refused, isTransient: false)]),
        ("concluding", nil, nil, [.start, .transferFailed(.lost, isTransient: true)]),
        ("concluding a success", .sealed, nil, [.start, .sealedFileChecked(isThere: true), .placed]),
        ("over", .sealed, nil, [.start, .sealedFileChecked(isThere: true), .placed, .concluded]),
    ]

    /// Each kind of event, with extreme numbers.
    static let events: [Event] = [
        .start, .sealedFileChecked(isThere: true), .sealedFileChecked(isThere: false), .opened(length: 0),
        .opened(length: .max), .head(whole), .head(head(404)), .head(head(503)), .head(head(416)), .head(challenge),
        .forgotten,
        .received(count: .max), .received(count: .min), .transferComplete, .transferFailed(.lost, isTransient: true),
        .transferFailed(.refused, isTransient: false), .appended(length: 0), .appended(length: .max),
        .synced(length: 0), .synced(length: .max), .checkpointRecorded,
        .sealed(.sealed), .intentRecorded, .intentRefused, .placed,
        .discarded, .diskFailed(.broken), .diskFailed(.full), .diskFailed(.gone), .concluded, .retryRefused,
        .cancel, .stop, .expire(.timedOut), .tick, .aged,
    ]

    @Test(
        "after any two events in any phase, a download has one conclusion, one released slot and no running transfer",
        arguments: paths.indices)
    func twoEvents(_ index: Int) {
        let (phase, intent, kept, events) = Self.paths[index]
        var random = SeededGenerator(seed: UInt64(index))
        for first in Self.events {
            for second in Self.events where Slice.includes(oneIn: 3, using: &random) {
                var run = CompletingRun(
                    machine: DownloadMachine(
                        checkpoint: kept, intent: intent, bootID: "boot", terms: .asking, limits: .small))
                for event in events + [first, second] { run.handle(event) }
                run.completeAllActions()
                guard !run.problems.isEmpty else { continue }
                Issue.record("\(phase), then \(first), then \(second): \(run.problems)")
                return
            }
        }
    }

    @Test("a download ignores the result of an action that it has not returned before")
    func unasked() {
        var attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 0))
        attempt.expect(.transferFailed(.lost, isTransient: true))
        attempt.expect(.forgotten, .restartPart, .startTransfer(offset: 0, ifRange: nil))
        attempt = DownloadScript(from: .kept(500))
        attempt.after(.start, .opened(length: 500))
        attempt.expect(.appended(length: 0))
        attempt.after(.head(rest))
        #expect(attempt.machine.wantsBytes)
    }
}

/// A download's state machine, and a simulation in which each action of the state machine succeeds.
private struct CompletingRun {
    var machine: DownloadMachine
    private(set) var problems: [String] = []
    private var results: [DownloadMachine.Event] = []
    private var transferRuns = false
    private var slots = 0
    private var conclusions = 0
    private var refusals = 0
    private var closed = 0
    private var written: UInt64 = 0

    init(machine: DownloadMachine) { self.machine = machine }

    mutating func handle(_ event: DownloadMachine.Event) {
        switch event {
        case .transferComplete, .transferFailed: transferRuns = false
        // The store did not commit the conclusion, so the state machine must return another conclusion.
        case .retryRefused where machine.phase == .concluding: refusals += 1
        default: break
        }
        let wasOver = machine.isOver
        for action in machine.handle(event) {
            if wasOver { problems.append("\(action) after the end") }
            perform(action)
        }
        // `wantsBytes` may be read at any time and must not trap.
        _ = machine.wantsBytes
    }

    mutating func completeAllActions() {
        if machine.phase == .ready { handle(.start) }
        for _ in 0..<200 where !machine.isOver {
            guard !results.isEmpty else {
                problems.append("nothing is under way in phase \(machine.phase)")
                return
            }
            handle(results.removeFirst())
        }
        for result in results { handle(result) }
        if !machine.isOver { problems.append("it does not end") }
        if slots != 1 { problems.append("the slot was released \(slots) times") }
        if conclusions < 1 || conclusions > 1 + refusals { problems.append("\(conclusions) conclusions") }
        if closed != 1 { problems.append("closed \(closed) times") }
        if transferRuns { problems.append("a transfer is left behind") }
    }

    private mutating func perform(_ action: DownloadMachine.Action) {
        switch action {
        case .checkSealedFile: results.append(.sealedFileChecked(isThere: true))
        case .openPart(_, let synced):
            written = synced
            results.append(.opened(length: synced))
        case .startTransfer(let offset, _, _):
            transferRuns = true
            results += offset == 0 ? [.head(whole), .received(count: 1_000)] : [.head(rest), .received(count: 500)]
            results.append(.transferComplete)
        case .stopTransfer:
            if !transferRuns { problems.append("a transfer is stopped that is over") }
            transferRuns = false
            results.removeAll {
                switch $0 {
                case .head, .received, .transferComplete: true
                default: false
                }
            }
        case .releaseSlot: slots += 1
        case .forgetCheckpoint: results.append(.forgotten)
        case .flush:
            written = machine.offset
            results.append(.appended(length: written))
        case .sync: results.append(.synced(length: written))
        case .seal: results.append(.sealed(.sealed))
        case .recordIntent: results.append(.intentRecorded)
        case .place: results.append(.placed)
        case .discardPart: results.append(.discarded)
        case .conclude:
            conclusions += 1
            results.append(.concluded)
        case .closePart: closed += 1
        case .checkSpace: results.append(.spaceChecked)
        case .checkDestinationFile: results.append(.destinationFileChecked(nil))
        case .findKnownRepresentation: results.append(.knownRepresentationFound(.known))
        case .recheckDestinationFile: results.append(.destinationFileRechecked(isSame: true))
        case .recordCheckpoint: results.append(.checkpointRecorded)
        case .resumeTransfer, .restartPart, .hash: break
        case .reserveName(let name): results.append(.nameReserved(name))
        }
    }
}
