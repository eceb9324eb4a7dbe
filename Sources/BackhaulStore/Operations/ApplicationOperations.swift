public import BackhaulModel

/// Lists the applications of the store. An application is the identity of the programs that use its sessions.
public struct ApplicationOperations {
    let tables: Tables

    /// Returns the applications that have a session or a launch command. `running` is the number of running tasks of
    /// each session, because no row states that a task runs.
    public func all(running: [SessionID: UInt64]) throws(Failure) -> [ApplicationInfo] {
        var found: [String: ApplicationInfo] = [:]
        for info in try tables.sessions.applications() { found[info.identifier] = info }
        for (session, count) in running {
            guard let application = try tables.sessions.names(of: session)?.application else { continue }
            found[application]?.runningTasks += count
        }
        for launch in try tables.launches.all() {
            found[launch.application, default: ApplicationInfo(identifier: launch.application)].hasLaunchCommand = true
        }
        return found.values.map { info in
            var info = info
            // A task may have ended since the running tasks were counted.
            info.runningTasks = min(info.runningTasks, info.liveTasks)
            return info
        }
    }
}
