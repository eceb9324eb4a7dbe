internal import BackhaulModel

extension ChallengeID: WireValue {}

extension Challenge: WireElement {
    static var minimumSize: Int { 40 }
    func encode(into encoder: inout Encoder) {
        encoder.put(id)
        encoder.put(code: space.kind)
        encoder.put(space.origin)
        encoder.put(space.realm)
        encoder.put(schemes.rawValue)
        encoder.put(failures)
        encoder.put(timeMilliseconds)
        encoder.put(waitingTasks)
        encoder.put(space.task)
        encoder.put(url)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            id: try decoder.value(),
            space: ProtectionSpace(
                kind: try decoder.code(), origin: try decoder.string(), realm: try decoder.optional()),
            schemes: AuthenticationSchemes(rawValue: try decoder.integer()), failures: try decoder.integer(),
            timeMilliseconds: try decoder.integer(), waitingTasks: try decoder.integer())
        space.task = try decoder.optional()
        url = try decoder.optional()
    }
}

extension AnswerLife: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(expiresMilliseconds)
        encoder.put(isKept)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(expiresMilliseconds: try decoder.optional(), isKept: try decoder.bool())
    }
}

extension ChallengeResponse: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .refuse: encoder.tag(1)
        case .credential(let user, let password):
            encoder.tag(2)
            encoder.put(user)
            encoder.put(password)
        case .headers(let headers):
            encoder.tag(3)
            encoder.put(headers)
        case .standard: encoder.tag(4)
        case .url(let url):
            encoder.tag(5)
            encoder.put(url)
        }
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1: self = .refuse
        case 2: self = .credential(user: try decoder.string(), password: try decoder.string())
        case 3: self = .headers(try decoder.list())
        case 4: self = .standard
        case 5: self = .url(try decoder.string())
        // The bytes behind it may be a secret: they are not named.
        default: throw Malformed("it has an unknown form of response")
        }
    }
}
