internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulUserManager
internal import Glibc

/// The program that a launch starts, with all that is needed to start it.
struct LaunchRequest: Sendable {
    var application: String
    var command: LaunchCommand
    var environment: [String: String]
    /// The name of a systemd unit for the program. No other unit of the user's systemd manager has this name.
    var unit: String
}

/// The process of a launch.
struct LaunchedProcess: Sendable {
    /// The started process; nil if it has ended already.
    var process: ProcessIdentity?
    /// The unit's name; nil if the program was started without a user manager.
    var unit: String?
}

/// Starts and ends the programs that the engine launches. It has its own thread, because calls to the user manager (the
/// systemd process for the services of one user) and to file systems may hang.
final class Launcher: Sendable {
    private let worker: Worker<Void>

    init() throws(Failure) {
        do {
            worker = try Worker(name: "bh-launch", make: {})
        } catch {
            throw Failure(.outOfResources, "the engine's thread for launches cannot be started: \(error)")
        }
    }

    /// Starts the program. `then` is called on the launcher's thread.
    func start(_ order: LaunchRequest, then: @escaping @Sendable (Result<LaunchedProcess, Failure>) -> Void) {
        let isPosted = worker.post { _ in then(Launcher.started(order)) }
        if !isPosted { then(.failure(Failure(.engineFailed, "the engine has stopped"))) }
    }

    /// Sends SIGTERM to all processes of the unit. If there is no unit, or no user manager, sends the signal to the
    /// given processes and their group.
    func terminate(_ processes: [any HostProcess], unit: String?) {
        worker.post { _ in
            if let unit, let manager = UserManager.connect(), (try? manager.stopService(unit)) == true { return }
            for process in processes { process.terminate() }
        }
    }

    /// Sends SIGKILL to the processes.
    func kill(_ processes: [any HostProcess]) {
        worker.post { _ in for process in processes { process.kill() } }
    }

    /// Waits for calls that are under way.
    func close() { worker.close() }

    private static func started(_ order: LaunchRequest) -> Result<LaunchedProcess, Failure> {
        do throws(Failure) {
            if let launched = try startUnit(order) { return .success(launched) }
            return .success(try startDetached(order))
        } catch {
            return .failure(error)
        }
    }

    /// Starts the program as a unit of the user manager, so that the program continues if the engine's service is
    /// stopped. Returns nil if no user manager replies. Also returns nil if the user manager does not see the same
    /// program file as the engine.
    private static func startUnit(_ order: LaunchRequest) throws(Failure) -> LaunchedProcess? {
        guard access(order.command.program, F_OK) == 0, let manager = UserManager.connect(),
            manager.sees(order.command.program) != false
        else { return nil }
        var service = TransientService(
            name: order.unit, description: "\(order.application), launched for its background transfers",
            program: order.command.program, arguments: order.command.arguments)
        service.environment = order.environment
        service.workingDirectory = workingDirectory(of: order)
        service.exitsWithControlGroup = true
        service.stopTimeoutMilliseconds = UInt64(LaunchDecision.endMilliseconds)
        do throws(Failure) {
            let started = try manager.startService(service)
            return LaunchedProcess(process: started.process, unit: started.name)
        } catch {
            // The manager would start the program after this call has reported a failure.
            if error.status == .timeout { _ = try? manager.stopService(order.unit) }
            throw error
        }
    }

    private static func startDetached(_ order: LaunchRequest) throws(Failure) -> LaunchedProcess {
        do throws(SystemError) {
            let process = try DetachedProcess.start(
                program: order.command.program, arguments: order.command.arguments,
                environment: Environment.joined(order.environment),
                workingDirectory: workingDirectory(of: order))
            return LaunchedProcess(process: ProcessIdentity.of(processID: process.processID), unit: nil)
        } catch {
            throw Failure.system(.internal, code: error.code, error.description)
        }
    }

    /// The directory in which the program starts: the command's working directory, else the user's home, else "/". The
    /// user of a system service may have no home.
    private static func workingDirectory(of order: LaunchRequest) -> String {
        if let chosen = order.command.workingDirectory { return chosen }
        guard let home = order.environment["HOME"], access(home, X_OK) == 0 else { return "/" }
        return home
    }
}
