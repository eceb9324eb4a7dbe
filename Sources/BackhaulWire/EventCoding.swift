internal import BackhaulModel

extension AnswerSummary: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(httpStatus)
        encoder.put(finalURL)
        encoder.put(mediaType)
        encoder.put(headers)
        encoder.put(errorBody.map(WireData.init))
        encoder.put(responseBody.map(WireData.init))
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init()
        httpStatus = try decoder.integer()
        finalURL = try decoder.optional()
        mediaType = try decoder.optional()
        headers = try decoder.list()
        errorBody = try decoder.optional(WireData.self)?.bytes
        responseBody = try decoder.optional(WireData.self)?.bytes
    }
}

extension Outcome: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(code: state)
        encoder.put(failure)
        encoder.put(path)
        encoder.put(size)
        encoder.put(answer)
        encoder.put(attempts)
        encoder.put(bytesReceived)
        encoder.put(bytesSent)
        encoder.put(checksum?.text)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(state: try decoder.code(), failure: try decoder.optional(), path: try decoder.optional())
        size = try decoder.integer()
        answer = try decoder.value()
        attempts = try decoder.integer()
        bytesReceived = try decoder.integer()
        bytesSent = try decoder.integer()
        checksum = try decoder.checksum()
    }
}

extension EndedTask: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(id)
        encoder.put(url)
        encoder.put(idempotencyKey)
        encoder.put(userData.map(WireData.init))
        encoder.put(outcome)
        encoder.put(code: kind)
        encoder.put(group)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            id: try decoder.value(), url: try decoder.string(), idempotencyKey: try decoder.optional(),
            userData: try decoder.optional(WireData.self)?.bytes, outcome: try decoder.value(),
            kind: try decoder.code(), group: try decoder.optional())
    }
}

extension FinishedGroup: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(name)
        encoder.put(succeeded)
        encoder.put(failed)
        encoder.put(cancelled)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            name: try decoder.string(), succeeded: try decoder.integer(), failed: try decoder.integer(),
            cancelled: try decoder.integer())
    }
}

extension Event: WireElement {
    static var minimumSize: Int { 25 }
    func encode(into encoder: inout Encoder) {
        encoder.put(id)
        encoder.put(round)
        encoder.put(timeMilliseconds)
        switch kind {
        case .taskEnded(let task):
            encoder.tag(1)
            encoder.put(task)
        case .sessionFinished: encoder.tag(2)
        case .challenge(let challenge):
            encoder.tag(3)
            encoder.put(challenge)
        case .groupFinished(let group):
            encoder.tag(4)
            encoder.put(group)
        case .activity(let identifier):
            encoder.tag(5)
            encoder.put(identifier)
        }
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        let id: EventID = try decoder.value()
        let round: UInt64 = try decoder.integer()
        let time: Int64 = try decoder.integer()
        let kind: Kind =
            switch try decoder.byte() {
            case 1: .taskEnded(try decoder.value())
            case 2: .sessionFinished
            case 3: .challenge(try decoder.optional())
            case 4: .groupFinished(try decoder.value())
            case 5: .activity(try decoder.string())
            case let tag: throw Malformed("it has the unknown kind of event \(tag)")
            }
        self.init(id: id, round: round, timeMilliseconds: time, kind: kind)
    }
}
