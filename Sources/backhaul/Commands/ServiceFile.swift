import BackhaulPlatform
import BackhaulUserManager
import CLinux
import Glibc

/// A systemd unit file, and the link that enables the unit. Both are in the user's directory for systemd.
struct ServiceFile {
    let name: String
    /// The target that starts the unit.
    let target: String
    private let directory: String

    /// The unit of a store's daemon.
    /// - Parameter store: The store's path without symbolic links.
    init(store: String) throws(CommandError) {
        try self.init(DaemonService.name(store: store), target: "default.target")
    }

    /// The unit that shows the transfers of a store on the desktop.
    init(desktopOf store: String) throws(CommandError) {
        let name = "backhaul-desktop-\(DaemonService.digits(store: store)).service"
        try self.init(name, target: DesktopUnit.target)
    }

    private init(_ name: String, target: String) throws(CommandError) {
        self.name = name
        self.target = target
        // systemd.unit(5), "User Unit Search Path", defines this directory.
        guard let configuration = Paths.configurationDirectory else {
            throw .usage("neither XDG_CONFIG_HOME nor HOME is an absolute path; set one of them")
        }
        directory = Paths.join(configuration, "systemd/user")
    }

    var path: String { Paths.join(directory, name) }

    var exists: Bool { access(path, F_OK) == 0 }

    /// The directory of the links for WantedBy=.
    private var linkDirectory: String { directory + "/\(target).wants" }

    /// The link for WantedBy=, as `systemctl enable` creates it.
    private var link: String { Paths.join(linkDirectory, name) }

    var isEnabled: Bool {
        var status = stat()
        return lstat(link, &status) == 0
    }

    func write(_ text: String) throws(CommandError) { try ServiceFile.write(text, path) }

    /// Syncs the link that `systemctl enable` has made.
    func syncLink() {
        Paths.sync(linkDirectory)
        Paths.sync(directory)
    }

    /// Removes the file and its link.
    func remove() throws(CommandError) {
        unlink(link)
        try ServiceFile.remove(path)
    }

    /// Writes a file atomically and durably, and makes its directory. If the power failed before the text is on the
    /// disk, the name could lead to an empty file, and systemd never starts a unit whose file is empty.
    static func write(_ text: String, _ path: String) throws(CommandError) {
        let directory = Paths.directory(of: path)
        let changed = try Paths.makeDirectories(directory) + [directory]
        let beside = path + ".new"
        let number = bhl_open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
        guard number >= 0 else { throw failed("written", path) }
        // A file system without a sync is no failure.
        let isWritten = Output.write(text, to: number) && (try? FileSync.sync(number)) != nil
        guard close(number) == 0, isWritten, rename(beside, path) == 0 else {
            let error = failed("written", path)
            unlink(beside)
            throw error
        }
        changed.forEach(Paths.sync)
    }

    static func remove(_ path: String) throws(CommandError) {
        guard unlink(path) == 0 || bhl_errno() == ENOENT else { throw failed("removed", path) }
    }

    private static func failed(_ what: String, _ path: String) -> CommandError {
        .stopped(.storeUnusable, "the file \(path) cannot be \(what): \(reasonOfLastError())")
    }
}
