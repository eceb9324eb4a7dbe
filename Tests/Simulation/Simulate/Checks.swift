import CBackhaul

/// What must hold in each run, whatever happens. This knows nothing of the engine: only the history, what the program
/// received, what the servers have seen, and the files.
struct Checks {
    let history: History
    let folder: String
    let observations: [Observation]

    init(_ history: History, _ journal: Journal, _ folder: String) {
        (self.history, self.folder) = (history, folder)
        observations = Array(journal.all)
    }

    var violations: [String] {
        history.tasks.flatMap(violations(of:)) + violationsOfRounds + violationsOfCalls + violationsOfLimits
            + violationsOfEnd + violationsOfReplies + history.tasks.flatMap(violationsOfPauses) + violationsOfLaunches
            + violationsOfGroups
    }

    /// The observations of a task that are violations in themselves.
    private static let violations: KeyValuePairs<Observation.Kind, String> = [
        .enqueueIsWrong: "was enqueued again, and the result did not show its end",
        .fileIsWrong: "has ended, and its file has wrong bytes",
        .fileIsMissing: "has ended, and its file is missing",
        .eventHasOldPath: "has an event with a path of which its file was moved",
        .taskIsRefused: "has failed, although the program has given its secret",
        .secretIsRevealed: "has revealed its secret header",
        .secretIsMissing: "lacked its secret header",
        .offsetIsWrong: "has not asked how much of its upload the server has",
        .groupIsWrong: "has an event with another group",
        .groupFinishesEarly: "has a group that finished before its end",
    ]

    private func violations(of plan: TaskPlan) -> [String] {
        let own = observations.filter { $0.task == plan.number }
        let accepted = own.filter { $0.kind == .taskIsAccepted }
        let ends = own.filter(\.isEnd)
        var found: [String] = []
        func expect(_ holds: Bool, _ what: String) { if !holds { found.append("task \(plan.number) \(what)") } }

        expect(accepted.count == 1, "was accepted \(accepted.count) times")
        expect(!ends.isEmpty, "has not ended")
        expect(Set(ends.map(\.first)).count <= 1, "has several events: \(Set(ends.map(\.first)).sorted())")
        expect(Set(ends.map(\.kind)).count <= 1, "has ended in several ways")
        if let acknowledged = own.firstIndex(where: { $0.kind == .isAcknowledged }) {
            expect(!own[acknowledged...].contains(where: \.isEnd), "has an event after it was acknowledged")
        }
        for (kind, what) in Self.violations { expect(!own.contains { $0.kind == kind }, what) }
        expect(plan.upload != nil || !own.contains { $0.kind == .upload && $0.first < 0 }, "has sent wrong bytes")
        found += violationsOfUpload(plan, own) + violationsOfSecrets(plan)
        expect(!requestsAfterCancel(plan, own), "continues after its cancel")
        let requests = own.count { $0.kind == .request } - own.count { $0.kind == .requestIsRefused }
        // A program that suspends and resumes a task decides itself that the request may be repeated.
        let mayRepeat = plan.kind != .post || plan.suspended != nil || plan.upload?.kind == .tus
        expect(requests <= 1 || mayRepeat, "has sent its POST twice")
        if let end = ends.first {
            expect(
                end.kind != .taskFails || mayFail(plan, end, requests: requests),
                "failed with \(Story.name(end.second))")
            let mayBeCancelled = plan.mayBeCancelled || endsWithPredecessor(plan, end) || wasCancelled(plan)
            expect(end.kind != .taskWasCancelled || mayBeCancelled, "was cancelled, and no program has cancelled it")
            found += violationsOfChain(plan, end)
            found += violationsOfFile(plan, end)
            found += violationsOfConsumedFile(plan, end) + violationsOfTakenPath(plan)
        }
        return found
    }

    /// The failures of tasks that a failing or full disk, or a lack of descriptors, explains.
    private static let diskFailures = Set(
        [
            BH_DISK_FULL, BH_DISK_FAILED, BH_DESTINATION_UNAVAILABLE, BH_BODY_UNAVAILABLE, BH_OUT_OF_RESOURCES,
        ].map(Int64.init))

    /// The errors of calls that such a disk explains. It explains no damaged store, and no call without an answer.
    private static let diskErrors = diskFailures.union(
        [
            BH_STORE_UNAVAILABLE, BH_STORE_FULL, BH_STORE_READ_ONLY, BH_ENGINE_FAILED, BH_ENGINE_UNRESPONSIVE,
            BH_DAEMON_UNAVAILABLE, BH_STORAGE_AWAY,
        ].map(Int64.init))

    private func mayFail(_ plan: TaskPlan, _ end: Observation, requests: Int) -> Bool {
        // A server may have acted on a request with POST, so it is not repeated (RFC 9110, section 9.2.2).
        plan.kind == .post || history.hasDiskFaults && Self.diskFailures.contains(end.second)
            || plan.resource.isMissing && end.second == Int64(BH_HTTP_STATUS)
            || end.second == Int64(BH_RESOURCE_TIMEOUT) && longestOff > 6 * 24 * hour
            // A server that has the body, and is silent three times in a row, always is (docs/retries.md).
            || plan.isUpload && end.second == Int64(BH_REQUEST_TIMEOUT) && requests >= 3
            || mayFailAsUpload(plan, end) || endsWithPredecessor(plan, end)
    }

    /// The longest time for which the machine was off, as its calendar says. A machine that was off has only the
    /// calendar to know for how long. If the calendar was set while no engine ran, and the power failed before or
    /// after, the next engine takes the step for such a time, too. A failing disk may end an engine while its process
    /// runs.
    private var longestOff: Int64 {
        var (longest, off, unseen) = (Int64(0), Int64(0), Int64(0))
        var isOff = false
        /// The programs that may be the engine; 0: the daemon. A process whose calls fail was not
        /// the engine, or is not any more.
        var running: Set<Int> = []
        for one in observations {
            switch one.kind {
            case .powerFails: (isOff, off, running) = (true, isOff ? off : unseen, [])
            case .configurationIs: (isOff, unseen) = (false, 0); running.formUnion(engines(one.program))
            case .callFails: running.subtract(engines(one.program))
            case .processExits, .allIsDone, .daemonIsKilled: running.remove(one.program)
            case .processIsKilled: if one.program > 0 { running.remove(one.program) } else { running = [] }
            case .calendarIsSet where isOff: off += one.first
            case .calendarIsSet where running.isEmpty: unseen += one.first
            // An engine whose disk fails may end before it has stored the step, or after that.
            case .calendarIsSet where history.hasDiskFaults: unseen += max(0, one.first)
            default: break
            }
            longest = max(longest, off)
        }
        return longest
    }

    private func engines(_ program: Int) -> Set<Int> { history.hasDaemon ? [program, 0] : [program] }

    private func violationsOfFile(_ plan: TaskPlan, _ end: Observation) -> [String] {
        guard !plan.isUpload else {
            let wasSent = observations.contains { $0.kind == .upload && $0.task == plan.number && $0.first >= 0 }
            return end.kind == .taskSucceeds && !wasSent ? ["task \(plan.number) succeeded without an upload"] : []
        }
        if plan.kept != nil { return violationsOfKeptFile(plan, end) }
        switch File.version(plan, at: "\(folder)/files/\(plan.number)") {
        case .right: return []
        case .wrong(let size): return ["task \(plan.number) has left a file of \(size) bytes that is no version"]
        case .missing where end.kind == .taskSucceeds: return ["the file of task \(plan.number) was lost"]
        case .missing: return []
        }
    }

    private var violationsOfRounds: [String] {
        let rounds = observations.filter { $0.kind == .sessionFinishes }
        var found: [String] = []
        // When a round ends, each task that was accepted before has an event.
        for round in rounds {
            let before = observations.prefix { $0 != round }.filter { $0.program == round.program }
            let accepted = Set(before.filter { $0.kind == .taskIsAccepted }.map(\.task))
            let ended = Set(before.filter(\.isEnd).map(\.task))
            let missing = accepted.subtracting(ended)
            if !missing.isEmpty { found.append("round \(round.second) finished before tasks \(missing.sorted())") }
        }
        for program in 1...history.programs { found += violationsOfFinishes(rounds.filter { $0.program == program }) }
        return found
    }

    /// Each round of a session finishes once, after the rounds before it, and not again after its event is
    /// acknowledged.
    private func violationsOfFinishes(_ rounds: [Observation]) -> [String] {
        var found: [String] = []
        for (round, events) in Dictionary(grouping: rounds, by: \.second) {
            let ids = Set(events.map(\.first)).sorted()
            if ids.count > 1 { found.append("round \(round) has several events: \(ids)") }
        }
        if zip(rounds, rounds.dropFirst()).contains(where: { $0.second < $1.second && $0.first > $1.first }) {
            found.append("the rounds finish in another order: \(rounds.map(\.second))")
        }
        for round in rounds where comesAgain(round) {
            found.append("round \(round.second) finishes again after its event was acknowledged")
        }
        return found
    }

    /// Whether an event of a program comes again after it was acknowledged.
    func comesAgain(_ event: Observation) -> Bool {
        let own = observations.filter { $0.program == event.program && $0.first == event.first }
        return own.drop { $0.kind != .isAcknowledged }.contains { $0.kind == event.kind }
    }

    private var violationsOfCalls: [String] {
        observations.filter { $0.kind == .callFails || $0.kind == .enqueueFails }
            .filter { !history.hasDiskFaults || !Self.diskErrors.contains($0.first) }
            .map { "a call failed with \(Story.name($0.first)) at \(Story.clock($0.time))" }
    }

    /// The replies to what the program asks beside its work.
    private var violationsOfReplies: [String] {
        let limits = Set(observations.filter { $0.kind == .configurationIs }.map(\.first))
        let contradictions = Set(
            observations.filter { $0.kind == .listingIsWrong }
                .compactMap { Inspection.Contradiction(rawValue: $0.second) }.map { "\($0)" })
        return (limits.count > 1 ? ["the stored configuration has changed: \(limits.sorted())"] : [])
            + (contradictions.isEmpty ? [] : ["a listing is wrong: \(contradictions.sorted())"])
            + (wrongLaunches.isEmpty ? [] : ["a launch is wrong: \(wrongLaunches.sorted())"])
            + observations.filter { $0.kind == .eventIsLost }.map { "event \($0.first) was lost" }
            + lostBodies.map { "the store has lost the task of the body \($0)" }
            + leftovers.map { "the file \($0) is left, and belongs to no task" }
            + (observations.contains { $0.kind == .hasSecondConsumer } ? ["a session had two consumers"] : [])
            + (observations.contains { $0.kind == .hiddenDirectoryIsAccepted }
                ? ["a download was accepted into a directory that the daemon does not see"] : [])
    }

    private var leftovers: ArraySlice<String> {
        // A download that fails because of 403, 404 or the like retains its bytes for a later task with its key.
        let retained = history.tasks.count { plan in
            !plan.isUpload && plan.kept == nil
                && observations.contains {
                    $0.kind == .taskFails && $0.task == plan.number && $0.second == Int64(BH_HTTP_STATUS)
                }
        }
        let names = observations.filter { $0.kind == .fileIsLeft }.map(\.text)
        let parts = names.filter { $0.hasPrefix(".backhaul-") }
        return names.filter { !$0.hasPrefix(".backhaul-") } + parts.dropFirst(retained)
    }

    private var wrongLaunches: Set<String> {
        Set(
            observations.filter { $0.kind == .launchIsWrong }
                .compactMap { WrongLaunch(rawValue: $0.first) }.map { "\($0)" })
    }

    /// If a program is away for hours and its round ends, the daemon launches it.
    private var violationsOfLaunches: [String] {
        // A daemon whose disk fails may end.
        guard history.hasLaunches, !history.hasDiskFaults else { return [] }
        return observations.indices.compactMap { index in
            let start = observations[index]
            guard start.kind == .processStarts, let away = timeAway(before: index),
                !away.contains(where: {
                    [.daemonIsKilled, .powerFails].contains($0.kind)
                        || $0.kind == .programIsLaunched && $0.program == start.program
                })
            else { return nil }
            let own = observations[index...].filter { $0.program == start.program && $0.time < start.time + second }
            // The event of a round that the program finds at its start.
            let found = own.prefix { ![.taskIsAccepted, .taskIsResumed].contains($0.kind) }
                .contains { $0.kind == .sessionFinishes }
            let isOld = !observations[..<index].contains {
                history.plan($0.task)?.program == start.program && $0.time > start.time - hour
            }
            guard found, isOld else { return nil }
            return "program \(start.program) was not launched before \(Story.clock(start.time))"
        }
    }

    /// What was observed before a process of a program started and after the last one ended, if the daemon was running.
    private func timeAway(before index: Int) -> ArraySlice<Observation>? {
        let start = observations[index]
        let end = observations[..<index].lastIndex {
            [.processExits, .processIsKilled].contains($0.kind) && [0, start.program].contains($0.program)
        }
        guard let end, observations[end].program == start.program else { return nil }
        let daemon = observations[..<end].last { [.daemonStarts, .daemonIsKilled].contains($0.kind) }
        return daemon?.kind == .daemonStarts ? observations[end..<index] : nil
    }

    /// After a server demanded a pause, the task sends no request before its end, also if another engine continues it.
    private func violationsOfPauses(_ plan: TaskPlan) -> [String] {
        // A disk that fails may not have the record of the pause.
        guard !history.hasDiskFaults else { return [] }
        let rest = observations.indices.filter { observations[$0].kind == .pauseIsDemanded }
        return rest.filter { observations[$0].task == plan.number }.compactMap { index in
            let pause = observations[index]
            let later = observations[(index + 1)...].prefix { $0.time < pause.first }
            let request = later.first {
                [.request, .uploadRequest].contains($0.kind) && $0.task == plan.number
            }
            guard let request else { return nil }
            // The loss of another part may have ended the attempt before the response arrived.
            let parts = observations[..<index].count {
                $0.kind == .uploadRequest && $0.task == plan.number && $0.time > pause.time - second
            }
            if plan.upload?.kind == .s3, parts > 1 { return nil }
            // The pause is forgotten if the machine starts again, or if the program resumes the task. The engine may
            // not have received the response, or not have recorded it.
            let isExcused = later.contains {
                $0.kind == .powerFails || $0.kind == .taskIsResumed && $0.task == plan.number
                    // Other parts were in flight.
                    || plan.upload?.kind == .s3 && request.time < pause.time + second
                    || [.processIsKilled, .daemonIsKilled, .processExits, .allIsDone, .outageBegins].contains($0.kind)
                        && $0.time < pause.time + 10 * second
            }
            guard !isExcused else { return nil }
            return "task \(plan.number) had to wait until \(Story.clock(pause.first)), and sent a request at "
                + Story.clock(request.time)
        }
    }

    private var violationsOfLimits: [String] {
        observations.contains { $0.kind == .limitIsPassed } ? ["the limit of running tasks was passed"] : []
    }

    private var violationsOfEnd: [String] {
        (1...history.programs).compactMap { program in
            let isDone = observations.contains { $0.kind == .allIsDone && $0.program == program }
            return isDone ? nil : "program \(program) did not come to its end"
        }
    }
}
