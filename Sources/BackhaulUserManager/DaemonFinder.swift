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
        throw Failure(
            .daemonUnavailable,
            "the daemon backhauld is not at \(paths.joined(separator: ", nor at ")); install it, or name its path in "
                + "the option `daemon` or in \(Self.variable), or choose embedded hosting")
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

    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return path.utf8.first == UInt8(ascii: "/") && stat(path, &status) == 0
            && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
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
