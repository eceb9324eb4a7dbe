import Backhaul

/// Follows transfers until they have ended. Reports each end to the user, and acknowledges the event about the end.
///
/// If this process is the consumer, events report the ends. While another process is the consumer, this process finds
/// the ends in the list of tasks. Meanwhile, this process regularly tries to become the consumer, in order to
/// acknowledge the ends.
final class Watch {
    enum Scope {
        /// The transfers that this command enqueued. The command does not acknowledge events of other transfers.
        case tasks([TaskID: Transfer])
        /// All transfers of the session.
        case session
    }

    static let timeoutOption = OptionDescription(
        "timeout", nil, "SECONDS", "exit after this time, with code 5; the transfers continue")

    static func timeout(_ arguments: Arguments) throws(CommandError) -> Int64? {
        if arguments.value("timeout") == "0" { return 0 }
        return try arguments.milliseconds("timeout", upTo: 31_536_000).map { Int64($0) }
    }

    private static let redrawInterval: Int64 = 200
    private static let pollInterval: Int64 = 1000

    let context: Context
    let application: Application
    let scope: Scope
    /// Whether the command ends when only suspended transfers are left. Without tasks, it always does.
    var endsIfSuspended = false
    private let deadline: Int64?
    private let started: Int64
    private(set) var session: Session
    private var isConsumer: Bool
    private var cursor: EventID?
    /// The tasks of `Scope.tasks` whose end has not been reported.
    private(set) var remaining: Set<TaskID> = []
    private var reported: Set<TaskID> = []
    /// The sizes of complete files in the last listing, by task.
    private var knownSizes: [TaskID: UInt64] = [:]
    private let wallTimeAtStart = Clock.wallMilliseconds
    private var roundsOutOfScope: Set<UInt64> = []
    /// The groups of the ended transfers that are in the scope, and of those that are not.
    private var groups: (inScope: Set<String>, outOfScope: Set<String>) = ([], [])
    private(set) var tally = Tally()
    private var hasReportedConsumer = false
    private var prompter: ChallengePrompter
    private var failureNotes = FailureNotes()
    private var waitNotes = WaitNotes()
    private var endingNotes = EndingNotes()

    init(
        _ context: Context, _ application: Application, _ session: Session, isConsumer: Bool, scope: Scope,
        timeout: Int64?, credentials: GivenCredentials = .none
    ) throws(CommandError) {
        self.context = context
        self.application = application
        self.session = session
        self.isConsumer = isConsumer
        self.scope = scope
        let now = Clock.milliseconds
        started = now
        let deadline = timeout.map { now + $0 }
        self.deadline = deadline
        prompter = ChallengePrompter(context, credentials, until: deadline)
        if case .tasks(let transfers) = scope { remaining = Set(transfers.keys) }
    }

    /// - Parameters:
    ///   - former: The requested transfers that ended before this command. Their end events were acknowledged earlier.
    ///   - note: A note about such a transfer.
    func run(after former: [Ending] = [], note: (Ending) -> String? = { _ in nil }) throws(CommandError) -> ExitCode {
        do {
            try report(former)
            for text in former.compactMap(note) { context.output.note(text) }
            try follow()
        } catch {
            context.output.clearProgress()
            endingNotes.reportRest(context.output)
            if case .interrupted = error { noteRemaining("") }
            throw error
        }
        context.output.clearProgress()
        try finish()
        endingNotes.reportRest(context.output)
        if context.output.progressTerminal != nil && tally.ended > 0 {
            context.output.note(tally.sentence(seconds: (Clock.milliseconds - started) / 1000))
        }
        return tally.exitCode
    }

    private func follow() throws(CommandError) {
        var nextPoll: Int64 = 0
        var nextConsumerRequest = Clock.milliseconds + Watch.pollInterval
        var nextCredentialCheck: Int64 = 0
        while true {
            if isConsumer { try drain() } else { try findEndedTasks() }
            let now = Clock.milliseconds
            if now >= nextPoll {
                if try hasEnded() { return }
                try draw()
                nextPoll = now + period
            } else if case .tasks = scope, remaining.isEmpty {
                return
            }
            if now >= nextCredentialCheck || prompter.hasNews {
                try askForCredentials()
                // On a terminal, the progress lines show the failures, so no notes are needed.
                if context.output.progressTerminal == nil { try reportFailures() }
                // The next attempt to become the consumer is delayed, so that the other process gets the session first.
                if try yieldIfAsked() { nextConsumerRequest = Clock.milliseconds + 5 * Watch.pollInterval }
                nextCredentialCheck = Clock.milliseconds + Watch.pollInterval
            }
            if !isConsumer && now >= nextConsumerRequest {
                try becomeConsumer()
                // The earlier consumer may have acknowledged end events since the last check. So this process finds
                // these ends in the list of tasks.
                if isConsumer { try findEndedTasks() }
                nextConsumerRequest = now + Watch.pollInterval
                continue
            }
            if let deadline, now >= deadline {
                noteRemaining("The time ran out. ")
                try reportFailures()
                throw .stopped(
                    .tryAgainLater,
                    "not everything has ended within the time given by --timeout"
                        + (failureNotes.last.map { "; the last error: \($0)" } ?? ""))
            }
            let pause = min(nextPoll - now, deadline.map { $0 - now } ?? Int64.max)
            _ = try context.signals.wait(for: isConsumer ? session.eventDescriptor : nil, milliseconds: pause)
        }
    }

    private var period: Int64 {
        context.output.progressTerminal == nil ? Watch.pollInterval : Watch.redrawInterval
    }

    /// Reads all available events. Reports the ends of the transfers in the scope, and acknowledges the events about
    /// them.
    private func drain() throws(CommandError) {
        while true {
            let (events, more) = try session.run(.poll(after: cursor, maximum: 1000))
            var acknowledged: [EventID] = []
            var endings: [Ending] = []
            for event in events {
                cursor = event.id
                switch event {
                case .taskEnded(let ending) where isInScope(ending.taskID):
                    if reported.insert(ending.taskID).inserted { endings.append(Ending(ending)) }
                    acknowledged.append(event.id)
                    if let group = ending.group { groups.inScope.insert(group) }
                case .taskEnded(let ending):
                    roundsOutOfScope.insert(ending.round)
                    if let group = ending.group { groups.outOfScope.insert(group) }
                case .sessionFinished(let ending):
                    if !roundsOutOfScope.contains(ending.round) { acknowledged.append(event.id) }
                case .challenge:
                    prompter.noteNewChallenge()
                    // After the event is acknowledged, the challenge stays open until a program responds to it.
                    if case .session = scope { acknowledged.append(event.id) }
                case .activity(let due): if case .session = scope { noteDueActivity(due) }
                case .groupFinished(let ending):
                    if concernsScope(ending) { acknowledged.append(event.id) }
                    // Later transfers may have a group with the same name.
                    groups.inScope.remove(ending.group)
                    groups.outOfScope.remove(ending.group)
                case .unknown: break
                }
            }
            // The events are acknowledged after the report. If the report fails, a later poll returns the events again.
            try report(endings)
            try session.run(.acknowledge(acknowledged))
            if !more { return }
        }
    }

    private func isInScope(_ task: TaskID) -> Bool {
        if case .tasks = scope { transfer(task) != nil } else { true }
    }

    /// Whether the end of a group is only about transfers in the scope, as far as the events show it.
    private func concernsScope(_ ending: GroupEnding) -> Bool {
        guard case .tasks = scope else { return true }
        return groups.inScope.contains(ending.group) && !groups.outOfScope.contains(ending.group)
    }

    /// Finds ended tasks in the list of tasks, without events.
    private func findEndedTasks() throws(CommandError) {
        for case let page? in Session.pages(of: remaining.sorted()) {
            let tasks = try session.tasks(.ids(page), maximum: page.count)
            var endings = tasks.filter { $0.hasEnded }.map { Ending($0) }
            for task in tasks { knownSizes[task.id] = task.size }
            for missing in Set(page).subtracting(tasks.map { $0.id }) {
                endings.append(
                    Ending(
                        acknowledgedElsewhere: missing, transfer(missing), knownSize: knownSizes[missing],
                        since: wallTimeAtStart))
            }
            reported.formUnion(endings.map { $0.taskID })
            try report(endings)
        }
    }

    private func transfer(_ task: TaskID) -> Transfer? {
        if case .tasks(let transfers) = scope { transfers[task] } else { nil }
    }

    private func report(_ endings: [Ending]) throws(CommandError) {
        var lines: [String] = []
        let endings = try endings.map { ending throws(CommandError) in try withLastAttempt(ending) }
        for ending in endings {
            remaining.remove(ending.taskID)
            tally.add(ending)
            if context.output.isJSON {
                lines.append(ending.json.text)
            } else if ending.succeeded {
                lines.append(Text.visible(ending.path ?? ending.url))
            }
        }
        try context.output.result(lines: lines)
        for ending in endings { endingNotes.report(ending, context.output) }
    }

    private func withLastAttempt(_ ending: Ending) throws(CommandError) -> Ending {
        guard ending.error?.status == .resourceTimeout else { return ending }
        var ending = ending
        do {
            ending.explain(by: try session.run(.attempts(ending.taskID)))
        } catch {
            // Another process has acknowledged the end, and the history does not have the task any more. Or it has even
            // removed the session.
            guard error.isSessionGone else { throw error }
        }
        return ending
    }

    private func hasEnded() throws(CommandError) -> Bool {
        if case .tasks = scope, remaining.isEmpty || !endsIfSuspended { return remaining.isEmpty }
        if try isAny(of: [.waiting, .running]) { return false }
        let isAnySuspended = try isAny(of: [.suspended])
        // The last task may have ended after the events were read, and before the list was read. So the events are read
        // again.
        if isConsumer { try drain() } else { try findEndedTasks() }
        if !isAnySuspended { return true }
        throw .stopped(
            .tryAgainLater,
            "only suspended transfers are left in session \(context.sessionName); `backhaul resume` "
                + "continues them")
    }

    /// Whether a transfer in the scope has one of these states.
    private func isAny(of states: Set<TaskState>) throws(CommandError) -> Bool {
        guard case .tasks = scope else { return try !session.tasks(.states(states), maximum: 1).isEmpty }
        for case let ids? in Session.pages(of: remaining.sorted()) {
            if try !session.tasks(TaskSelection(ids: ids, states: states), maximum: 1).isEmpty { return true }
        }
        return false
    }

    /// Prompts for credentials. If the user gives none, and all remaining transfers wait for a credential, the command
    /// ends.
    private func askForCredentials() throws(CommandError) {
        try prompter.promptForNewChallenges(
            session, of: application, always: !isConsumer,
            concerned: { () throws(CommandError) in try concerned() },
            isAsked: { (challenge) throws(CommandError) in
                try waitingForCredential().contains { ConcernedChallenges.origin(of: $0.url) == challenge.origin }
            })
        guard !prompter.open.isEmpty, try waitsForCredentialsOnly() else { return }
        try finish()
        throw .stopped(.credentialNeeded, "the remaining transfers wait for a credential. " + prompter.advice)
    }

    /// The challenges for which transfers in the scope wait. The challenges are listed after the transfers, so that
    /// the challenge of a listed transfer is in the list.
    private func concerned() throws(CommandError) -> [Challenge] {
        guard case .tasks = scope else { return try session.run(.challenges) }
        return try ConcernedChallenges.of(waitingForCredential(), session.run(.challenges), session)
    }

    private func waitingForCredential() throws(CommandError) -> [TaskInfo] {
        var waiting: [TaskInfo] = []
        try forEachActivePage { tasks in
            waiting += tasks.filter { $0.waitsFor == .credential }
            return true
        }
        return waiting
    }

    /// If another process waits for the right to read the session's events, gives up this right. Then the command
    /// `wait` ends, and the command `get` continues without events. When the other process has released the session,
    /// `get` becomes the consumer again.
    private func yieldIfAsked() throws(CommandError) -> Bool {
        guard isConsumer, try application.isAskedToYield(context.sessionName) else { return false }
        try finish()
        guard case .tasks = scope else {
            throw .stopped(
                .tryAgainLater, "another process has asked for the events of session \(context.sessionName)")
        }
        isConsumer = false
        session.close()
        session = try application.attach(context.sessionName, role: .produce)
        return true
    }

    private func waitsForCredentialsOnly() throws(CommandError) -> Bool {
        var isAny = false
        var isOnly = true
        try forEachActivePage { tasks in
            isAny = isAny || !tasks.isEmpty
            isOnly = tasks.allSatisfy { $0.waitsFor == .credential }
            return isOnly
        }
        return isAny && isOnly
    }

    /// Calls `body` with pages of the waiting and running transfers in the scope, until `body` returns false.
    private func forEachActivePage(_ body: ([TaskInfo]) -> Bool) throws(CommandError) {
        var selection = TaskSelection(states: [.waiting, .running])
        if case .tasks = scope {
            if remaining.isEmpty { return }
            selection.ids = remaining.sorted()
        }
        try session.forEachPage(selection, body)
    }

    private func reportFailures() throws(CommandError) {
        var selection = TaskSelection(states: [.waiting, .running])
        if case .tasks = scope {
            if remaining.isEmpty { return }
            if remaining.count <= 1000 { selection.ids = remaining.sorted() }
        }
        let tasks = try session.tasks(selection, maximum: 256)
        let sentences =
            failureNotes.newSentences(for: tasks, context) + waitNotes.newSentences(for: tasks, context)
        for sentence in sentences where context.output.progressTerminal == nil { context.output.note(sentence) }
    }

    private func becomeConsumer() throws(CommandError) {
        do {
            session = try application.attach(context.sessionName, role: .consume)
            isConsumer = true
        } catch {
            guard case .failure(let failure) = error, failure.status == .inUse else { throw error }
            if !hasReportedConsumer && context.output.progressTerminal != nil {
                context.output.note(
                    "Process \(failure.detail) reads the events of session \(context.sessionName); the files are "
                        + "downloaded anyway.")
            }
            hasReportedConsumer = true
        }
    }

    /// Acknowledges the remaining end events, and completes the session: this states that the program has processed all
    /// events of the session.
    private func finish() throws(CommandError) {
        if !isConsumer { try becomeConsumer() }
        guard isConsumer else { return }
        try drain()
        do {
            try session.run(.complete)
        } catch {
            // The remaining events are about transfers of other processes. Those processes acknowledge the events.
            guard error.status == .eventsOutstanding else { throw error }
        }
    }
}
