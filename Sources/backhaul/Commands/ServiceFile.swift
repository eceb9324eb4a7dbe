import BackhaulUserManager
import CLinux
import Glibc

/// The systemd unit file of a store's daemon, and the link that enables the unit. Both are in the user's directory for
/// systemd.
struct ServiceFile {
    let name: String
    private let directory: String

    /// - Parameter store: The store's path without symbolic links.
    init(store: String) throws(CommandError) {
        name = DaemonService.name(store: store)
        // systemd.unit(5), "User Unit Search Path", defines this directory.
        guard let configuration = Paths.configurationDirectory else {
            throw .usage("neither XDG_CONFIG_HOME nor HOME is an absolute path; set one of them")
        }
        directory = Paths.join(configuration, "systemd/user")
    }

    var path: String { Paths.join(directory, name) }

    var exists: Bool { access(path, F_OK) == 0 }

    /// Whether there is a link for WantedBy=default.target, as `systemctl enable` creates it.
    var isEnabled: Bool {
        var status = stat()
        return lstat(directory + "/default.target.wants/" + name, &status) == 0
    }

    /// Writes the file atomically.
    func write(_ text: String) throws(CommandError) {
        try Paths.makeDirectories(directory)
        let beside = path + ".new"
        let number = bhl_open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
        guard number >= 0 else { throw failed("written") }
        let isWritten = Output.write(text, to: number)
        guard close(number) == 0, isWritten, rename(beside, path) == 0 else {
            let error = failed("written")
            unlink(beside)
            throw error
        }
    }

    /// Removes the file and its link.
    func remove() throws(CommandError) {
        unlink(directory + "/default.target.wants/" + name)
        guard unlink(path) == 0 || bhl_errno() == ENOENT else { throw failed("removed") }
    }

    private func failed(_ what: String) -> CommandError {
        .stopped(.storeUnusable, "the unit file \(path) cannot be \(what): \(reasonOfLastError())")
    }
}
