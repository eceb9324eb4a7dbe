internal import BackhaulModel

extension Acknowledgement: WireValue {
    func encode(into encoder: inout Encoder) {
        switch self {
        case .ids(let ids):
            encoder.tag(1)
            encoder.put(ids)
        case .through(let id):
            encoder.tag(2)
            encoder.put(id)
        }
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1: self = .ids(try decoder.list())
        case 2: self = .through(try decoder.value())
        case let tag: throw Malformed("it has the unknown form of acknowledgement \(tag)")
        }
    }
}

extension Command: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.tag(tag)
        switch self {
        case .createSession(let configuration, let role, let handle, let waits):
            encoder.put(configuration)
            encoder.put(code: role)
            encoder.put(handle)
            encoder.put(waits)
        case .attachSession(let identifier, let role, let handle, let waits):
            encoder.put(identifier)
            encoder.put(code: role)
            encoder.put(handle)
            encoder.put(waits)
        case .closeSession(let handle), .configuration(let handle), .stopWaiting(let handle),
            .challenges(let handle), .activities(let handle):
            encoder.put(handle)
        case .updateConfiguration(let handle, let configuration):
            encoder.put(handle)
            encoder.put(configuration)
        case .enqueue(let handle, let requests):
            encoder.put(handle)
            encoder.put(requests)
        case .poll(let handle, let after, let maximum):
            encoder.put(handle)
            encoder.put(after)
            encoder.put(maximum)
        case .acknowledge(let handle, let acknowledgement):
            encoder.put(handle)
            encoder.put(acknowledgement)
        case .complete(let handle, let handedOut):
            encoder.put(handle)
            encoder.put(handedOut)
        case .tasks(let handle, let selection, let after, let maximum):
            encoder.put(handle)
            encoder.put(selection)
            encoder.put(after)
            encoder.put(maximum)
        case .control(let handle, let control, let selection):
            encoder.put(handle)
            encoder.put(control)
            encoder.put(selection)
        case .claim(let handle, let task, let destination, let ifExists):
            encoder.put(handle)
            encoder.put(task)
            encoder.put(destination)
            encoder.put(code: ifExists)
        case .invalidate(let handle, let cancelTasks):
            encoder.put(handle)
            encoder.put(cancelTasks)
        case .setLaunch(let command): encoder.put(command)
        case .respond(let handle, let challenge, let response, let life):
            encoder.put(handle)
            encoder.put(challenge)
            encoder.put(response)
            encoder.put(life)
        case .attempts(let handle, let task), .waits(let handle, let task):
            encoder.put(handle)
            encoder.put(task)
        case .history(let handle, let after, let maximum):
            encoder.put(handle)
            encoder.put(after)
            encoder.put(maximum)
        case .setLimits(let limits): encoder.put(limits)
        case .watchProgress(let handle, let interval):
            encoder.put(handle)
            encoder.put(interval)
        case .setNetwork(let settings): encoder.put(settings)
        case .setActivity(let handle, let activity):
            encoder.put(handle)
            encoder.put(activity)
        case .removeActivity(let handle, let identifier):
            encoder.put(handle)
            encoder.put(identifier)
        case .sessions, .engine, .launches, .currentLaunch, .limits, .conditions, .holds, .networks: break
        }
    }

    private var tag: UInt8 {
        switch self {
        case .createSession: 1
        case .attachSession: 2
        case .closeSession: 3
        case .configuration: 4
        case .updateConfiguration: 5
        case .enqueue: 6
        case .poll: 7
        case .acknowledge: 8
        case .complete: 9
        case .tasks: 10
        case .control: 11
        case .claim: 12
        case .invalidate: 13
        case .sessions: 14
        case .stopWaiting: 15
        case .engine: 16
        case .setLaunch: 17
        case .launches: 18
        case .currentLaunch: 19
        case .challenges: 20
        case .respond: 21
        case .watchProgress: 22
        case .attempts: 23
        case .history: 24
        case .setLimits: 25
        case .limits: 26
        case .waits: 27
        case .conditions: 28
        case .holds: 29
        case .setNetwork: 30
        case .networks: 31
        case .setActivity: 32
        case .removeActivity: 33
        case .activities: 34
        }
    }

    init(from decoder: inout Decoder) throws(Malformed) {
        switch try decoder.byte() {
        case 1:
            self = .createSession(
                try decoder.value(), try decoder.code(), try decoder.value(), waits: try decoder.bool())
        case 2:
            self = .attachSession(
                identifier: try decoder.string(), try decoder.code(), try decoder.value(), waits: try decoder.bool())
        case 3: self = .closeSession(try decoder.value())
        case 4: self = .configuration(try decoder.value())
        case 5: self = .updateConfiguration(try decoder.value(), try decoder.value())
        case 6: self = .enqueue(try decoder.value(), try decoder.list())
        case 7: self = .poll(try decoder.value(), after: try decoder.value(), maximum: try decoder.integer())
        case 8: self = .acknowledge(try decoder.value(), try decoder.value())
        case 9: self = .complete(try decoder.value(), handedOut: try decoder.value())
        case 10:
            self = .tasks(
                try decoder.value(), try decoder.value(), after: try decoder.value(), maximum: try decoder.integer())
        case 11: self = .control(try decoder.value(), try decoder.value(), try decoder.value())
        case 12: self = .claim(try decoder.value(), try decoder.value(), try decoder.value(), try decoder.code())
        case 13: self = .invalidate(try decoder.value(), cancelTasks: try decoder.bool())
        case 14: self = .sessions
        case 15: self = .stopWaiting(try decoder.value())
        case 16: self = .engine
        case 17: self = .setLaunch(try decoder.optional())
        case 18: self = .launches
        case 19: self = .currentLaunch
        case 20: self = .challenges(try decoder.value())
        case 21:
            self = .respond(try decoder.value(), try decoder.value(), try decoder.value(), try decoder.value())
        case 22: self = .watchProgress(try decoder.value(), intervalMilliseconds: try decoder.integer())
        case 23: self = .attempts(try decoder.value(), try decoder.value())
        case 24: self = .history(try decoder.value(), after: try decoder.value(), maximum: try decoder.integer())
        case 25: self = .setLimits(try decoder.value())
        case 26: self = .limits
        case 27: self = .waits(try decoder.value(), try decoder.value())
        case 28: self = .conditions
        case 29: self = .holds
        case 30: self = .setNetwork(try decoder.value())
        case 31: self = .networks
        case 32: self = .setActivity(try decoder.value(), try decoder.value())
        case 33: self = .removeActivity(try decoder.value(), identifier: try decoder.string())
        case 34: self = .activities(try decoder.value())
        case let tag: throw Malformed("it has the unknown command \(tag)")
        }
    }
}
