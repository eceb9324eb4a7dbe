internal import BackhaulModel

extension LaunchID: WireValue {}

extension LaunchToken: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(id)
        encoder.put(secret)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(id: try decoder.value(), secret: try decoder.integer())
    }
}

extension LaunchCommand: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(program)
        encoder.put(arguments)
        encoder.put(environment)
        encoder.put(workingDirectory)
        encoder.put(attachTimeoutMilliseconds)
        encoder.put(firstDelayMilliseconds)
        encoder.put(longestDelayMilliseconds)
        encoder.put(maximumLaunches)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(program: try decoder.string())
        arguments = try decoder.list()
        environment = try decoder.list()
        workingDirectory = try decoder.optional()
        attachTimeoutMilliseconds = try decoder.integer()
        firstDelayMilliseconds = try decoder.integer()
        longestDelayMilliseconds = try decoder.integer()
        maximumLaunches = try decoder.integer()
    }
}

extension LaunchInfo: WireElement {
    static var minimumSize: Int { 63 }
    func encode(into encoder: inout Encoder) {
        encoder.put(application)
        encoder.put(command)
        encoder.put(code: state)
        encoder.put(launches)
        encoder.put(nextLaunchMilliseconds)
        encoder.put(processID)
        encoder.put(startedMilliseconds)
        encoder.put(errorMessage)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(application: try decoder.string(), command: try decoder.value())
        state = try decoder.code()
        launches = try decoder.integer()
        nextLaunchMilliseconds = try decoder.integer()
        processID = try decoder.integer()
        startedMilliseconds = try decoder.integer()
        errorMessage = try decoder.optional()
    }
}

extension CurrentLaunch: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(id)
        encoder.put(launches)
        encoder.put(sessions)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(id: try decoder.value(), launches: try decoder.integer(), sessions: try decoder.list())
    }
}

extension EngineInfo: WireValue {
    func encode(into encoder: inout Encoder) {
        encoder.put(processID)
        encoder.put(version)
        encoder.put(isDaemon)
        encoder.put(startedMilliseconds)
        encoder.put(connections)
    }
    init(from decoder: inout Decoder) throws(Malformed) {
        self.init(
            processID: try decoder.integer(), version: try decoder.integer(), isDaemon: try decoder.bool(),
            startedMilliseconds: try decoder.integer(), connections: try decoder.integer())
    }
}
