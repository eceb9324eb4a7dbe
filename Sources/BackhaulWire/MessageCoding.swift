internal import BackhaulModel

extension ClientMessage: WireValue {
    enum Form: UInt8 { case hello = 1, command, requestExit, credit }

    func write(to coder: inout Coder) {
        switch self {
        case .hello(let hello): coder.put(Form.hello, ConnectionPreface(), hello)
        case .command(let sequence, let repliedThrough, let command):
            coder.put(Form.command, sequence, repliedThrough, command)
        case .requestExit(let versions): coder.put(Form.requestExit, ConnectionPreface(versions: versions))
        case .credit(let handle, let credit): coder.put(Form.credit, handle, credit)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> ClientMessage {
        let tag = try coder.byte()
        switch Form(rawValue: tag) {
        case .hello:
            try coder.next(ConnectionPreface.self).check()
            return .hello(try coder.next())
        case .command:
            return .command(sequence: try coder.next(), repliedThrough: try coder.next(), try coder.next())
        case .requestExit: return .requestExit(try coder.next(ConnectionPreface.self).versions)
        case .credit: return .credit(try coder.next(), try coder.next())
        case nil: throw Malformed("it has the unknown tag \(tag)")
        }
    }
}

extension EventCredit: WireRecord {
    static var blank: EventCredit { EventCredit(after: .zero) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&after)
        try coder.field(&events)
        try coder.field(&bytes)
    }
}

extension EngineMessage: WireValue {
    enum Form: UInt8 { case welcome = 65, reply, notice, goodbye }

    func write(to coder: inout Coder) {
        switch self {
        case .welcome(let welcome): coder.put(Form.welcome, welcome)
        case .reply(let sequence, let reply): coder.put(Form.reply, sequence, reply)
        case .notice(let notice): coder.put(Form.notice, notice)
        case .goodbye(let failure): coder.put(Form.goodbye, failure)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> EngineMessage {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .welcome: .welcome(try coder.next())
        case .reply: .reply(sequence: try coder.next(), try coder.next())
        case .notice: .notice(try coder.next())
        case .goodbye: .goodbye(try coder.next())
        case nil: throw Malformed("it has the unknown tag \(tag)")
        }
    }
}
