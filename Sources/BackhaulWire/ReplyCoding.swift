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
        }
    }

    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1: self = .event(identifier: try decoder.string(), newest: try decoder.value())
        case let tag: throw Malformed("it has the unknown notice \(tag)")
        }
    }
}
