internal import BackhaulPlatform
internal import BackhaulStore
internal import BackhaulUserManager

/// A daemon that this process has started.
enum DaemonProcess {
    /// A process in the same control group as this process. It is no child of this process.
    case detached(DetachedProcess)
    /// A service of the user manager, the systemd process that runs a user's services. The manager restarts the daemon
    /// after a failure. If this process belongs to another service, the daemon continues when that service is stopped.
    case service(StartedService)

    var processID: Int32? {
        switch self {
        case .detached(let process): process.processID
        case .service(let service): service.process?.processID
        }
    }

    /// What the daemon, or the loader of its libraries, has written to stderr. A service writes to the journal instead.
    var errorText: String { if case .detached(let process) = self { process.errorText } else { "" } }

    var service: StartedService? { if case .service(let service) = self { service } else { nil } }

    var hasEnded: Bool {
        switch self {
        case .detached(let process): process.hasEnded
        case .service(let service): service.process?.isAlive != true
        }
    }

    /// Starts the daemon as a service of the user manager, if the user manager replies and sees the same file system.
    /// Otherwise starts the daemon as a detached process.
    static func start(
        _ program: String, _ directory: StoreDirectory, mayBeService: Bool
    ) throws(SystemError) -> DaemonProcess {
        if mayBeService, let service = startService(program, directory) { return .service(service) }
        let process = try DetachedProcess.start(
            program: program, arguments: ["--store", directory.path],
            environment: Environment.joined(DaemonEnvironment.current), keepsErrors: true)
        return .detached(process)
    }

    private static func startService(_ program: String, _ directory: StoreDirectory) -> StartedService? {
        let store = directory.realPath
        guard let manager = UserManager.connect(), manager.sees(store) != false else { return nil }
        var service = TransientService(
            name: DaemonService.name(store: store), description: "Backhaul transfers of \(store)", program: program,
            arguments: ["--store", store])
        service.environment = DaemonEnvironment.current
        service.workingDirectory = "/"
        // If the store cannot be served (exit code 1) or the command line is wrong (exit code 2), a restart does not
        // help. So after these exit codes the manager does not restart the daemon. The next client that needs the
        // daemon starts it again, and gets the error.
        service.restart = .init(
            delayMilliseconds: 1_000, attempts: 5, startLimitIntervalMilliseconds: 60_000,
            restartPreventExitCodes: [1, 2])
        service.stopTimeoutMilliseconds = 10_000
        service.isSandboxed = true
        // If the manager is missing or refuses, the caller starts a detached process.
        return try? manager.startService(service)
    }
}
