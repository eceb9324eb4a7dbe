internal import BackhaulModel
internal import BackhaulWire

/// Performs a client's command: calls the function for this kind of command.
struct CommandHandler {
    let call: CommandCall

    func handle(_ command: Command) throws(Failure) {
        let (sessions, tasks, records) = (
            SessionCommands(call: call), TaskCommands(call: call), TaskRecordCommands(call: call)
        )
        let (challenges, activities, launches) = (
            ChallengeCommands(call: call), ActivityCommands(call: call), LaunchCommands(call: call)
        )
        switch command {
        case .createSession(let configuration, let role, let handle, let waits):
            try sessions.create(configuration, role, handle, waits: waits)
        case .attachSession(let identifier, let role, let handle, let waits):
            sessions.attach(identifier, role, handle, waits: waits)
        case .closeSession(let handle): sessions.close(handle)
        case .configuration(let handle): sessions.configuration(of: try call.attached(handle).session)
        case .updateConfiguration(let handle, let configuration):
            try SessionCheck.check(configuration)
            sessions.update(configuration, of: try call.changing(handle))
        case .invalidate(let handle, let cancelTasks):
            sessions.invalidate(try call.changing(handle), cancelTasks: cancelTasks)
        case .sessions(let after): sessions.list(after: after)
        case .stopWaiting(let handle): sessions.stopWaiting(handle)
        case .watchProgress(let handle, let milliseconds): try sessions.watchProgress(handle, milliseconds)
        case .poll(let handle, let after, let maximum):
            sessions.poll(try call.consuming(handle), after: after, maximum: Self.count(maximum))
        case .acknowledge(let handle, let acknowledgement):
            try sessions.acknowledge(acknowledgement, by: handle)
        case .enqueue(let handle, let requests): try tasks.enqueue(requests, into: try call.changing(handle))
        case .tasks(let handle, let selection, let after, let maximum):
            let session = try call.attached(handle).session
            tasks.list(selection, after: after, maximum: Self.count(maximum), of: session)
        case .control(let handle, let control, let selection):
            tasks.control(control, selection, in: try call.changing(handle))
        case .claim(let handle, let task, let destination, let ifExists):
            try tasks.claim(task, destination, ifExists, in: try call.changing(handle))
        case .attempts(let handle, let task): records.attempts(of: task, in: try call.attached(handle).session)
        case .attemptsOfTasks(let handle, let tasks):
            records.attempts(of: tasks, in: try call.attached(handle).session)
        case .history(let handle, let after, let maximum):
            records.history(of: try call.attached(handle).session, after: after, maximum: Self.count(maximum))
        case .waits(let handle, let task): records.waits(of: task, in: try call.attached(handle).session)
        case .waitsOfTasks(let handle, let tasks): records.waits(of: tasks, in: try call.attached(handle).session)
        case .challenges(let handle): challenges.challenges(of: try call.attached(handle).session)
        case .respond(let handle, let challenge, let response, let lifetime):
            try challenges.respond(challenge, response, lifetime, in: try call.changing(handle))
        case .setActivity(let handle, let activity):
            try activities.setActivity(activity, in: try call.changing(handle))
        case .removeActivity(let handle, let identifier):
            activities.removeActivity(identifier, in: try call.changing(handle))
        case .activities(let handle): activities.activities(of: try call.attached(handle).session)
        case .setLaunch(let command): try launches.setLaunch(command)
        case .launches: launches.launches()
        case .currentLaunch: launches.currentLaunch()
        case .complete(let handle, let deliveredThrough):
            let session = try call.consuming(handle, orRemoved: true)
            launches.complete(handle, session, deliveredThrough: deliveredThrough)
        case .setLimits(let limits): try LimitCommands(call: call).setLimits(limits)
        case .limits: LimitCommands(call: call).limits()
        case .conditions: ConditionCommands(call: call).conditions()
        case .holds: ConditionCommands(call: call).holds()
        case .setNetwork(let settings): try NetworkCommands(call: call).setNetwork(settings)
        case .networks: NetworkCommands(call: call).networks()
        case .metrics: MetricsCommands(call: call).metrics()
        case .applications: ApplicationCommands(call: call).applications()
        case .engine: call.connection.reply(call.sequence, .engine(call.engine.information))
        }
    }

    /// Returns how many items a reply may have: as many as the client wants, up to the limit.
    private static func count(_ maximum: UInt32) -> Int { min(Int(maximum), Limits.batchCount) }
}
