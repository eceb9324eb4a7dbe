internal import BackhaulModel

extension Acknowledgement: WireValue {
    enum Form: UInt8 { case ids = 1, through }

    func write(to coder: inout Coder) {
        switch self {
        case .ids(let ids): coder.put(Form.ids, ids)
        case .through(let id): coder.put(Form.through, id)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Acknowledgement {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .ids: .ids(try coder.next())
        case .through: .through(try coder.next())
        case nil: throw Malformed("it has the unknown form of acknowledgement \(tag)")
        }
    }
}

extension Command: WireValue {
    enum Form: UInt8 {
        case createSession = 1, attachSession, closeSession, configuration, updateConfiguration
        case enqueue, poll, acknowledge, complete, tasks
        case control, claim, invalidate, sessions, stopWaiting
        case engine, setLaunch, launches, currentLaunch, challenges
        case respond, watchProgress, attempts, history, setLimits
        case limits, waits, conditions, holds, setNetwork
        case networks, setActivity, removeActivity, activities, metrics, applications
        case attemptsOfTasks, waitsOfTasks
    }

    func write(to coder: inout Coder) {
        switch self {
        case .createSession(let configuration, let role, let handle, let waits):
            coder.put(Form.createSession, configuration, role, handle, waits)
        case .attachSession(let identifier, let role, let handle, let waits):
            coder.put(Form.attachSession, identifier, role, handle, waits)
        case .closeSession(let handle): coder.put(Form.closeSession, handle)
        case .configuration(let handle): coder.put(Form.configuration, handle)
        case .updateConfiguration(let handle, let configuration):
            coder.put(Form.updateConfiguration, handle, configuration)
        case .enqueue(let handle, let requests): coder.put(Form.enqueue, handle, requests)
        case .poll(let handle, let after, let maximum): coder.put(Form.poll, handle, after, maximum)
        case .acknowledge(let handle, let events): coder.put(Form.acknowledge, handle, events)
        case .complete(let handle, let event): coder.put(Form.complete, handle, event)
        case .tasks(let handle, let selection, let after, let maximum):
            coder.put(Form.tasks, handle, selection, after, maximum)
        case .control(let handle, let control, let selection): coder.put(Form.control, handle, control, selection)
        case .claim(let handle, let task, let destination, let ifExists):
            coder.put(Form.claim, handle, task, destination, ifExists)
        case .invalidate(let handle, let cancels): coder.put(Form.invalidate, handle, cancels)
        case .sessions(let after): coder.put(Form.sessions, after)
        case .stopWaiting(let handle): coder.put(Form.stopWaiting, handle)
        case .engine: coder.put(Form.engine)
        case .setLaunch(let command): coder.put(Form.setLaunch, command)
        case .launches: coder.put(Form.launches)
        case .currentLaunch: coder.put(Form.currentLaunch)
        case .challenges(let handle): coder.put(Form.challenges, handle)
        case .respond(let handle, let challenge, let response, let life):
            coder.put(Form.respond, handle, challenge, response, life)
        case .watchProgress(let handle, let interval): coder.put(Form.watchProgress, handle, interval)
        case .attempts(let handle, let task): coder.put(Form.attempts, handle, task)
        case .history(let handle, let after, let maximum): coder.put(Form.history, handle, after, maximum)
        case .setLimits(let limits): coder.put(Form.setLimits, limits)
        case .limits: coder.put(Form.limits)
        case .waits(let handle, let task): coder.put(Form.waits, handle, task)
        case .conditions: coder.put(Form.conditions)
        case .holds: coder.put(Form.holds)
        case .setNetwork(let settings): coder.put(Form.setNetwork, settings)
        case .networks: coder.put(Form.networks)
        case .setActivity(let handle, let activity): coder.put(Form.setActivity, handle, activity)
        case .removeActivity(let handle, let identifier): coder.put(Form.removeActivity, handle, identifier)
        case .activities(let handle): coder.put(Form.activities, handle)
        case .metrics: coder.put(Form.metrics)
        case .applications: coder.put(Form.applications)
        case .attemptsOfTasks(let handle, let tasks): coder.put(Form.attemptsOfTasks, handle, tasks)
        case .waitsOfTasks(let handle, let tasks): coder.put(Form.waitsOfTasks, handle, tasks)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Command {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .createSession:
            .createSession(try coder.next(), try coder.next(), try coder.next(), waits: try coder.next())
        case .attachSession:
            .attachSession(identifier: try coder.next(), try coder.next(), try coder.next(), waits: try coder.next())
        case .closeSession: .closeSession(try coder.next())
        case .configuration: .configuration(try coder.next())
        case .updateConfiguration: .updateConfiguration(try coder.next(), try coder.next())
        case .enqueue: .enqueue(try coder.next(), try coder.next())
        case .poll: .poll(try coder.next(), after: try coder.next(), maximum: try coder.next())
        case .acknowledge: .acknowledge(try coder.next(), try coder.next())
        case .complete: .complete(try coder.next(), deliveredThrough: try coder.next())
        case .tasks: .tasks(try coder.next(), try coder.next(), after: try coder.next(), maximum: try coder.next())
        case .control: .control(try coder.next(), try coder.next(), try coder.next())
        case .claim: .claim(try coder.next(), try coder.next(), try coder.next(), try coder.next())
        case .invalidate: .invalidate(try coder.next(), cancelTasks: try coder.next())
        case .sessions: .sessions(after: try coder.next())
        case .stopWaiting: .stopWaiting(try coder.next())
        case .engine: .engine
        case .setLaunch: .setLaunch(try coder.next())
        case .launches: .launches
        case .currentLaunch: .currentLaunch
        case .challenges: .challenges(try coder.next())
        case .respond: .respond(try coder.next(), try coder.next(), try coder.next(), try coder.next())
        case .watchProgress: .watchProgress(try coder.next(), intervalMilliseconds: try coder.next())
        case .attempts: .attempts(try coder.next(), try coder.next())
        case .history: .history(try coder.next(), after: try coder.next(), maximum: try coder.next())
        case .setLimits: .setLimits(try coder.next())
        case .limits: .limits
        case .waits: .waits(try coder.next(), try coder.next())
        case .conditions: .conditions
        case .holds: .holds
        case .setNetwork: .setNetwork(try coder.next())
        case .networks: .networks
        case .setActivity: .setActivity(try coder.next(), try coder.next())
        case .removeActivity: .removeActivity(try coder.next(), identifier: try coder.next())
        case .activities: .activities(try coder.next())
        case .metrics: .metrics
        case .applications: .applications
        case .attemptsOfTasks: .attemptsOfTasks(try coder.next(), try coder.next())
        case .waitsOfTasks: .waitsOfTasks(try coder.next(), try coder.next())
        case nil: throw Malformed("it has the unknown command \(tag)")
        }
    }
}
