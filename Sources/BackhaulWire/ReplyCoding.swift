internal import BackhaulModel

extension Reply: WireValue {
    enum Form: UInt8 {
        case failed = 1, done, count, session, configuration
        case enqueued, events, tasks, sessions, completed
        case engine, launches, currentLaunch, challenges, attempts
        case limits, waits, conditions, holds, networks
        case activities, metrics, applications
    }

    func write(to coder: inout Coder) {
        switch self {
        case .failed(let failure): coder.put(Form.failed, failure)
        case .done: coder.put(Form.done)
        case .count(let count): coder.put(Form.count, count)
        case .session(let session, let isNew, let newest, let unacknowledged):
            coder.put(Form.session, session, isNew, newest, unacknowledged)
        case .configuration(let configuration): coder.put(Form.configuration, configuration)
        case .enqueued(let items): coder.put(Form.enqueued, items)
        case .events(let events, let more): coder.put(Form.events, events, more)
        case .tasks(let tasks, let more): coder.put(Form.tasks, tasks, more)
        case .sessions(let sessions, let more): coder.put(Form.sessions, sessions, more)
        case .completed(let endsHandle): coder.put(Form.completed, endsHandle)
        case .engine(let engine): coder.put(Form.engine, engine)
        case .launches(let launches): coder.put(Form.launches, launches)
        case .currentLaunch(let launch): coder.put(Form.currentLaunch, launch)
        case .challenges(let challenges): coder.put(Form.challenges, challenges)
        case .attempts(let attempts, let more): coder.put(Form.attempts, attempts, more)
        case .limits(let limits): coder.put(Form.limits, limits)
        case .waits(let waits, let more): coder.put(Form.waits, waits, more)
        case .conditions(let conditions): coder.put(Form.conditions, conditions)
        case .holds(let holds): coder.put(Form.holds, holds)
        case .networks(let networks): coder.put(Form.networks, networks)
        case .activities(let activities): coder.put(Form.activities, activities)
        case .metrics(let text): coder.put(Form.metrics, text)
        case .applications(let applications): coder.put(Form.applications, applications)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Reply {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .failed: .failed(try coder.next())
        case .done: .done
        case .count: .count(try coder.next())
        case .session:
            .session(
                try coder.next(), isNew: try coder.next(), newestEvent: try coder.next(),
                unacknowledged: try coder.next())
        case .configuration: .configuration(try coder.next())
        case .enqueued: .enqueued(try coder.next())
        case .events: .events(try coder.next(), more: try coder.next())
        case .tasks: .tasks(try coder.next(), more: try coder.next())
        case .sessions: .sessions(try coder.next(), more: try coder.next())
        case .completed: .completed(endsHandle: try coder.next())
        case .engine: .engine(try coder.next())
        case .launches: .launches(try coder.next())
        case .currentLaunch: .currentLaunch(try coder.next())
        case .challenges: .challenges(try coder.next())
        case .attempts: .attempts(try coder.next(), more: try coder.next())
        case .limits: .limits(try coder.next())
        case .waits: .waits(try coder.next(), more: try coder.next())
        case .conditions: .conditions(try coder.next())
        case .holds: .holds(try coder.next())
        case .networks: .networks(try coder.next())
        case .activities: .activities(try coder.next())
        case .metrics: .metrics(try coder.next())
        case .applications: .applications(try coder.next())
        case nil: throw Malformed("it has the unknown reply \(tag)")
        }
    }
}

extension Notice: WireValue {
    enum Form: UInt8 { case event = 1, yield, progress, events, removed, endWithdrawn }

    func write(to coder: inout Coder) {
        switch self {
        case .event(let identifier, let newest): coder.put(Form.event, identifier, newest)
        case .yield(let identifier): coder.put(Form.yield, identifier)
        case .progress(let handle, let readings): coder.put(Form.progress, handle, readings)
        case .events(let handle, let after, let through, let events):
            coder.put(Form.events, handle, after, through, events)
        case .removed(let handle): coder.put(Form.removed, handle)
        case .endWithdrawn(let handle): coder.put(Form.endWithdrawn, handle)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Notice {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .event: .event(identifier: try coder.next(), newest: try coder.next())
        case .yield: .yield(identifier: try coder.next())
        case .progress: .progress(try coder.next(), try coder.next())
        case .events: .events(try coder.next(), after: try coder.next(), through: try coder.next(), try coder.next())
        case .removed: .removed(try coder.next())
        case .endWithdrawn: .endWithdrawn(try coder.next())
        case nil: throw Malformed("it has the unknown notice \(tag)")
        }
    }
}
