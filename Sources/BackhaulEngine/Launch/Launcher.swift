internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulUserManager
internal import Glibc

/// A program to be started for a launch.
struct LaunchOrder: Sendable {
    var application: String
    var command: LaunchCommand
    var environment: [String: String]
    /// A name that no other unit of the user manager has.
    var unit: String
}

/// What came of it.
struct LaunchedProcess: Sendable {
    /// Nil when it has ended already.
    var process: ProcessIdentity?
    /// Nil without a user manager.
    var unit: String?
}

/// Starts and ends launched hosts, on a thread of its own: a user manager may take its time, and so may a program's
/// file system.
final class Launcher: Sendable {
    private let worker: Worker<Void>

    init() throws(Failure) {
        do {
            worker = try Worker(name: "bh-launch", make: {})
        } catch {
            throw Failure(.outOfResources, "the engine's thread for launches cannot be started: \(error)")
        }
    }

    /// `then` is called on the launcher's thread.
    func start(_ order: LaunchOrder, then: @escaping @Sendable (Result<LaunchedProcess, Failure>) -> Void) {
        let isPosted = worker.post { _ in then(Launcher.started(order)) }
        if !isPosted { then(.failure(Failure(.engineFailed, "the engine has stopped"))) }
    }

    /// SIGTERM for all of the unit, or for the processes and their group.
    func askToEnd(_ processes: [any HostProcess], unit: String?) {
        worker.post { _ in
            if let unit, let manager = UserManager.connect(), (try? manager.stopService(unit)) == true { return }
            for process in processes { process.askToEnd() }
        }
    }

    /// SIGKILL.
    func kill(_ processes: [any HostProcess]) {
        worker.post { _ in for process in processes { process.kill() } }
    }

    /// Waits for what is under way.
    func close() { worker.close() }

    private static func started(_ order: LaunchOrder) -> Result<LaunchedProcess, Failure> {
        do throws(Failure) {
            if let launched = try startUnit(order) { return .success(launched) }
            return .success(try startDetached(order))
        } catch {
            return .failure(error)
        }
    }

    /// Under a user manager as a unit of its own: stopping the service that this engine belongs to does not stop it.
    /// Nil where none answers that sees the program as this process does.
    private static func startUnit(_ order: LaunchOrder) throws(Failure) -> LaunchedProcess? {
        guard access(order.command.program, F_OK) == 0, let manager = UserManager.connect(),
            manager.sees(order.command.program) != false
        else { return nil }
        var service = TransientService(
            name: order.unit, description: "\(order.application), launched for its background transfers",
            program: order.command.program, arguments: order.command.arguments)
        service.environment = order.environment
        service.workingDirectory = workingDirectory(of: order)
        service.livesAsLongAsAnyProcess = true
        service.stopMilliseconds = UInt64(LaunchDecision.endMilliseconds)
        let started = try manager.startService(service)
        return LaunchedProcess(process: started.process, unit: started.name)
    }

    private static func startDetached(_ order: LaunchOrder) throws(Failure) -> LaunchedProcess {
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

    /// Users of services may have a home that is not there.
    private static func workingDirectory(of order: LaunchOrder) -> String {
        if let chosen = order.command.workingDirectory { return chosen }
        guard let home = order.environment["HOME"], access(home, X_OK) == 0 else { return "/" }
        return home
    }
}
