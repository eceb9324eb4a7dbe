internal import BackhaulModel

extension ProtectionSpace {
    /// Each task has a space of its own for its URL.
    var storedRealm: String? { task.map { String($0.rawValue) } ?? realm }
}

extension Row {
    /// Reads kind, origin, has_realm, realm and task_id; nil when they are NULL.
    mutating func protectionSpace() -> ProtectionSpace? {
        let kind = ProtectionSpace.Kind(rawValue: number())
        let origin = optionalText()
        let hasRealm = flag()
        let realm = text()
        let task: UInt64? = optionalNumber()
        guard let kind, let origin else { return nil }
        return ProtectionSpace(
            kind: kind, origin: origin, realm: hasRealm && task == nil ? realm : nil, task: task.map(TaskID.init))
    }

    mutating func challenge() -> Challenge {
        let id = challengeID()
        let space = protectionSpace() ?? ProtectionSpace(kind: .server, origin: "", realm: nil)
        return Challenge(
            id: id, space: space, schemes: AuthenticationSchemes(rawValue: number()), failures: number(),
            timeMilliseconds: integer(), waitingTasks: bits(), url: optionalText())
    }
}
