import BackhaulUserManager
import CLinux
import Glibc

/// The unit file of a store's daemon among the user's units, and the link that enables it.
struct ServiceFile {
    let name: String
    private let directory: String

    /// - Parameter store: without symbolic links.
    init(store: String) throws(CommandError) {
        name = DaemonService.name(store: store)
        // systemd.unit(5), "User Unit Search Path".
        if let configuration = environment("XDG_CONFIG_HOME"), configuration.hasPrefix("/") {
            directory = Paths.join(configuration, "systemd/user")
        } else if let home = environment("HOME"), home.hasPrefix("/") {
            directory = Paths.join(home, ".config/systemd/user")
        } else {
            throw .usage("Neither XDG_CONFIG_HOME nor HOME is an absolute path; set one of them.")
        }
    }

    var path: String { Paths.join(directory, name) }

    var exists: Bool { access(path, F_OK) == 0 }

    /// What `systemctl enable` makes for WantedBy=default.target.
    var isEnabled: Bool {
        var status = stat()
        return lstat(directory + "/default.target.wants/" + name, &status) == 0
    }

    /// Writes the file, whole or not at all.
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

    /// Removes the file and, where systemctl has not, its link.
    func remove() throws(CommandError) {
        unlink(directory + "/default.target.wants/" + name)
        guard unlink(path) == 0 || bhl_errno() == ENOENT else { throw failed("removed") }
    }

    private func failed(_ what: String) -> CommandError {
        .stopped(.storeUnusable, "The unit file \(path) cannot be \(what): \(reasonOfLastError()).")
    }
}
