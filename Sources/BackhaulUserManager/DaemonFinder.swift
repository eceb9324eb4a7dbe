public import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Finds the program of the daemon, which runs transfers outside of the programs that embed the library (the *hosts*).
public struct DaemonFinder: Sendable {
    static let programName = "backhauld"
    public static let variable = "BACKHAUL_DAEMON"

    /// The paths to check, in order. If the host's option or the environment variable names the program, there is only
    /// this path.
    public let paths: [String]

    /// - path: the host's option for the daemon's path.
    public init(path: String?) {
        self.init(path: path, environment: Environment.variable(Self.variable), image: Self.image)
    }

    init(path: String?, environment: String?, image: String?) {
        if let path {
            paths = [path]
        } else if let environment, !environment.isEmpty {
            paths = [environment]
        } else {
            paths =
                Self.pathsBeside(image)
                + ["/usr/local", "/usr"].map { "\($0)/libexec/backhaul/\(Self.programName)" }
        }
    }

    /// The first of the paths that is a program, or nil.
    public var program: String? { paths.first(where: Self.isProgram) }

    /// Returns the daemon's path. Throws daemonUnavailable with all paths that were checked.
    public func find() throws(Failure) -> String {
        if let program { return program }
        let (reason, remedy) = problem
        throw Failure(
            .daemonUnavailable,
            "the daemon \(reason); \(remedy), or name its path in options.daemon or in \(Self.variable), or "
                + "choose BH_HOSTING_EMBEDDED")
    }

    /// Why no path is a program, and what to do.
    public var problem: (reason: String, remedy: String) {
        guard let file = paths.first(where: Self.isFile) else {
            return ("backhauld is not at \(paths.joined(separator: ", nor at "))", "install it")
        }
        if let mount = Self.noexecMount(of: file) {
            return (
                "\(file) is on a file system that is mounted with noexec (\(mount))",
                "remount this file system with exec"
            )
        }
        return ("\(file) is not executable for this user", "give the file this permission (chmod +x)")
    }

    /// The path beside the library, and the paths to which `make install` installs the daemon. All are derived from the
    /// path of the library.
    private static func pathsBeside(_ image: String?) -> [String] {
        guard let image, let slash = image.lastIndex(of: "/") else { return [] }
        let folder = image[..<slash]
        let above = folder.lastIndex(of: "/").map { folder[..<$0] } ?? folder
        var paths = ["\(folder)/\(programName)", "\(above)/libexec/backhaul/\(programName)"]
        // Distributions have a directory for each architecture: /usr/lib/x86_64-linux-gnu.
        if above.hasSuffix("/lib"), let slash = above.lastIndex(of: "/") {
            paths.append("\(above[..<slash])/libexec/backhaul/\(programName)")
        }
        return paths
    }

    private static func isProgram(_ path: String) -> Bool { isFile(path) && access(path, X_OK) == 0 }

    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return path.utf8.first == UInt8(ascii: "/") && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The mount point of the file, if it is mounted with noexec: the highest directory with the same flag and device.
    private static func noexecMount(of file: String) -> String? {
        guard let path = resolved(file), let device = noexecDevice(path) else { return nil }
        var point = path
        while let slash = point.lastIndex(of: "/"), point != "/" {
            let parent = slash == point.startIndex ? "/" : String(point[..<slash])
            guard noexecDevice(parent) == device else { break }
            point = parent
        }
        return point
    }

    /// The device of the file's file system; nil if it is not mounted with noexec.
    private static func noexecDevice(_ path: String) -> dev_t? {
        var (system, status) = (statvfs(), stat())
        // The flag ST_NOEXEC is 8. libc declares it only if _GNU_SOURCE is defined.
        guard statvfs(path, &system) == 0, system.f_flag & 8 != 0, stat(path, &status) == 0
        else { return nil }
        return status.st_dev
    }

    /// The path of the file that contains this code, without symbolic links. The file is the library, or a program that
    /// is linked with the library.
    private static var image: String? {
        let name = bhl_image_file().map { String(cString: $0) } ?? ""
        // The dynamic linker names a library by its path. The name of a program may be any text that its caller chose,
        // so the path of the program is read from /proc.
        return resolved(name.utf8.first == UInt8(ascii: "/") ? name : "/proc/self/exe")
    }

    private static func resolved(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
