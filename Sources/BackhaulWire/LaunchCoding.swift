internal import BackhaulModel

extension LaunchToken: WireRecord {
    static var blank: LaunchToken { LaunchToken(id: LaunchID(rawValue: 0), secret: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&id)
        try coder.field(&secret)
    }
}

extension LaunchCommand: WireRecord {
    static var blank: LaunchCommand { LaunchCommand(program: "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&program)
        try coder.field(&arguments)
        try coder.field(&environment)
        try coder.field(&workingDirectory)
        try coder.field(&attachTimeoutMilliseconds)
        try coder.field(&firstDelayMilliseconds)
        try coder.field(&longestDelayMilliseconds)
        try coder.field(&maximumLaunches)
    }
}

extension LaunchInfo: WireRecord, WireElement {
    static var minimumSize: Int { 63 }
    static var blank: LaunchInfo { LaunchInfo(application: "", command: .blank) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&application)
        try coder.field(&command)
        try coder.field(&state)
        try coder.field(&launches)
        try coder.field(&nextLaunchMilliseconds)
        try coder.field(&processID)
        try coder.field(&startedMilliseconds)
        try coder.field(&errorMessage)
    }
}

extension CurrentLaunch: WireRecord {
    static var blank: CurrentLaunch { CurrentLaunch(id: LaunchID(rawValue: 0), launches: 0, sessions: []) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&id)
        try coder.field(&launches)
        try coder.field(&sessions)
    }
}

extension EngineInfo: WireRecord {
    static var blank: EngineInfo {
        EngineInfo(processID: 0, version: 0, isDaemon: false, startedMilliseconds: 0, connections: 0)
    }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&processID)
        try coder.field(&version)
        try coder.field(&isDaemon)
        try coder.field(&startedMilliseconds)
        try coder.field(&connections)
    }
}

extension ApplicationInfo: WireRecord, WireElement {
    static var minimumSize: Int { 41 }
    static var blank: ApplicationInfo { ApplicationInfo(identifier: "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&identifier)
        try coder.field(&sessions)
        try coder.field(&liveTasks)
        try coder.field(&runningTasks)
        try coder.field(&events)
        try coder.field(&hosts)
        try coder.field(&hasLaunchCommand)
    }
}
