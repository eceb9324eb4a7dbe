internal import BackhaulModel

/// The first byte of a frame's payload.
enum MessageTag {
    static let hello: UInt8 = 1
    static let command: UInt8 = 2
    static let leave: UInt8 = 3
    static let credit: UInt8 = 4
    static let welcome: UInt8 = 65
    static let reply: UInt8 = 66
    static let notice: UInt8 = 67
    static let goodbye: UInt8 = 68
}

extension ClientMessage: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .hello(let hello):
            encoder.tag(MessageTag.hello)
            Opening.put(into: &encoder)
            encoder.put(hello)
        case .leave(let versions):
            encoder.tag(MessageTag.leave)
            Opening.put(versions, into: &encoder)
        case .command(let sequence, let answeredThrough, let command):
            encoder.tag(MessageTag.command)
            encoder.put(sequence)
            encoder.put(answeredThrough)
            encoder.put(command)
        case .credit(let handle, let credit):
            encoder.tag(MessageTag.credit)
            encoder.put(handle)
            encoder.put(credit.after)
            encoder.put(credit.events)
            encoder.put(credit.bytes)
        }
    }

    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case MessageTag.hello:
            try Opening.check(&decoder)
            self = .hello(try decoder.value())
        case MessageTag.leave: self = .leave(try Opening.read(&decoder))
        case MessageTag.command:
            self = .command(
                sequence: try decoder.integer(), answeredThrough: try decoder.integer(), try decoder.value())
        case MessageTag.credit:
            self = .credit(
                try decoder.value(),
                EventCredit(after: try decoder.value(), events: try decoder.integer(), bytes: try decoder.integer()))
        case let tag: throw Malformed("it has the unknown tag \(tag)")
        }
    }
}

extension EngineMessage: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .welcome(let welcome):
            encoder.tag(MessageTag.welcome)
            encoder.put(welcome)
        case .reply(let sequence, let reply):
            encoder.tag(MessageTag.reply)
            encoder.put(sequence)
            encoder.put(reply)
        case .notice(let notice):
            encoder.tag(MessageTag.notice)
            encoder.put(notice)
        case .goodbye(let failure):
            encoder.tag(MessageTag.goodbye)
            encoder.put(failure)
        }
    }

    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case MessageTag.welcome: self = .welcome(try decoder.value())
        case MessageTag.reply: self = .reply(sequence: try decoder.integer(), try decoder.value())
        case MessageTag.notice: self = .notice(try decoder.value())
        case MessageTag.goodbye: self = .goodbye(try decoder.optional())
        case let tag: throw Malformed("it has the unknown tag \(tag)")
        }
    }
}
