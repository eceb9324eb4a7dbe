internal import BackhaulModel

extension Reply: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .failed(let failure):
            encoder.tag(1)
            encoder.put(failure)
        case .done: encoder.tag(2)
        case .count(let count):
            encoder.tag(3)
            encoder.put(count)
        case .session(let session, let isNew, let newestEvent, let unacknowledged):
            encoder.tag(4)
            encoder.put(session)
            encoder.put(isNew)
            encoder.put(newestEvent)
            encoder.put(unacknowledged)
        case .configuration(let configuration):
            encoder.tag(5)
            encoder.put(configuration)
        case .enqueued(let items):
            encoder.tag(6)
            encoder.put(items)
        case .events(let events, let more):
            encoder.tag(7)
            encoder.put(events)
            encoder.put(more)
        case .tasks(let tasks, let more):
            encoder.tag(8)
            encoder.put(tasks)
            encoder.put(more)
        case .sessions(let sessions):
            encoder.tag(9)
            encoder.put(sessions)
        case .completed(let endsHandle):
            encoder.tag(10)
            encoder.put(endsHandle)
        case .engine(let engine):
            encoder.tag(11)
            encoder.put(engine)
        case .launches(let launches):
            encoder.tag(12)
            encoder.put(launches)
        case .currentLaunch(let launch):
            encoder.tag(13)
            encoder.put(launch)
        case .challenges(let challenges):
            encoder.tag(14)
            encoder.put(challenges)
        case .attempts(let attempts):
            encoder.tag(15)
            encoder.put(attempts)
        case .limits(let limits):
            encoder.tag(16)
            encoder.put(limits)
        case .waits(let waits):
            encoder.tag(17)
            encoder.put(waits)
        case .conditions(let conditions):
            encoder.tag(18)
            encoder.put(conditions)
        case .holds(let holds):
            encoder.tag(19)
            encoder.put(holds)
        case .networks(let networks):
            encoder.tag(20)
            encoder.put(networks)
        case .activities(let activities):
            encoder.tag(21)
            encoder.put(activities)
        }
    }

    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1: self = .failed(try decoder.value())
        case 2: self = .done
        case 3: self = .count(try decoder.integer())
        case 4:
            self = .session(
                try decoder.value(), isNew: try decoder.bool(), newestEvent: try decoder.value(),
                unacknowledged: try decoder.integer())
        case 5: self = .configuration(try decoder.value())
        case 6: self = .enqueued(try decoder.list())
        case 7: self = .events(try decoder.list(), more: try decoder.bool())
        case 8: self = .tasks(try decoder.list(), more: try decoder.bool())
        case 9: self = .sessions(try decoder.list())
        case 10: self = .completed(endsHandle: try decoder.bool())
        case 11: self = .engine(try decoder.value())
        case 12: self = .launches(try decoder.list())
        case 13: self = .currentLaunch(try decoder.optional())
        case 14: self = .challenges(try decoder.list())
        case 15: self = .attempts(try decoder.list())
        case 16: self = .limits(try decoder.value())
        case 17: self = .waits(try decoder.list())
        case 18: self = .conditions(try decoder.list())
        case 19: self = .holds(try decoder.list())
        case 20: self = .networks(try decoder.list())
        case 21: self = .activities(try decoder.list())
        case let tag: throw Malformed("it has the unknown reply \(tag)")
        }
    }
}

extension Notice: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .event(let identifier, let newest):
            encoder.tag(1)
            encoder.put(identifier)
            encoder.put(newest)
        case .yield(let identifier):
            encoder.tag(2)
            encoder.put(identifier)
        case .progress(let handle, let readings):
            encoder.tag(3)
            encoder.put(handle)
            encoder.put(readings)
        case .events(let handle, let after, let through, let events):
            encoder.tag(4)
            encoder.put(handle)
            encoder.put(after)
            encoder.put(through)
            encoder.put(events)
        }
    }

    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1: self = .event(identifier: try decoder.string(), newest: try decoder.value())
        case 2: self = .yield(identifier: try decoder.string())
        case 3: self = .progress(try decoder.value(), try decoder.list())
        case 4:
            self = .events(
                try decoder.value(), after: try decoder.value(), through: try decoder.value(), try decoder.list())
        case let tag: throw Malformed("it has the unknown notice \(tag)")
        }
    }
}
