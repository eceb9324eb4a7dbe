internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore

/// Starts and ends launched hosts. A launched host is a program that the engine starts because a session needs the
/// program. Tests have a fake that starts no program.
protocol HostStarter: AnyObject {
    /// Starts the program of the launch. `then` is called in a later iteration of the event loop.
    func start(
        _ launch: StoredLaunch, _ token: LaunchToken,
        then: @escaping (Result<LaunchedProcess, Failure>) -> [EngineEffect])

    /// Sends SIGTERM to all processes of the systemd unit. If there is no unit, or if the user has no systemd manager,
    /// sends the signal to the given processes.
    func terminate(_ processes: [any HostProcess], unit: String?)

    /// Sends SIGKILL to the processes.
    func kill(_ processes: [any HostProcess])

    /// Waits until the calls of the functions above that are under way have ended.
    func close()
}

/// Starts programs, and gives them the environment variables of a launched host (`LaunchEnvironment`).
///
/// Each engine has one object of this type. It owns the thread for launches, which starts with the first launch.
final class ProgramStarter: HostStarter {
    private let runtime: any Runtime
    private let services: Services
    private var launcher: Launcher?

    init(_ runtime: any Runtime, _ services: Services) {
        self.runtime = runtime
        self.services = services
    }

    func start(
        _ launch: StoredLaunch, _ token: LaunchToken,
        then: @escaping (Result<LaunchedProcess, Failure>) -> [EngineEffect]
    ) {
        guard let launcher = makeLauncherIfNeeded() else {
            return runtime.afterThisIteration {
                then(.failure(Failure(.outOfResources, "no thread for the launch can be started")))
            }
        }
        let order = LaunchRequest(
            application: launch.application, command: launch.command, environment: environment(of: launch, token),
            unit: "backhaul-\(launch.application.prefix(150))-\(String(token.secret, radix: 16)).service")
        launcher.start(order, then: runtime.returning(then))
    }

    func terminate(_ processes: [any HostProcess], unit: String?) {
        makeLauncherIfNeeded()?.terminate(processes, unit: unit)
    }

    func kill(_ processes: [any HostProcess]) { makeLauncherIfNeeded()?.kill(processes) }

    func close() { launcher?.close() }

    private func makeLauncherIfNeeded() -> Launcher? {
        if launcher == nil { launcher = try? Launcher() }
        return launcher
    }

    private func environment(of launch: StoredLaunch, _ token: LaunchToken) -> [String: String] {
        let inherited = Environment.variable("BACKHAUL_DAEMON")
        return LaunchEnvironment.make(
            of: Environment.entries, additions: launch.command.environment, application: launch.application,
            token: token, store: services.directory.path,
            daemon: services.options.isDaemon ? Environment.ownProgram : inherited, home: Environment.home)
    }
}
