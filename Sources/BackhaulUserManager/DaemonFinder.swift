public import BackhaulModel
internal import BackhaulPlatform
internal import CLinux
internal import Glibc

/// Where the program of the daemon is.
public struct DaemonFinder: Sendable {
    static let programName = "backhauld"
    public static let variable = "BACKHAUL_DAEMON"

    /// In the order in which they are looked at. One place only where somebody has named it.
    public let places: [String]

    /// - path: the host's option.
    public init(path: String?) {
        self.init(path: path, environment: Environment.variable(Self.variable), image: Self.image)
    }

    init(path: String?, environment: String?, image: String?) {
        if let path {
            places = [path]
        } else if let environment, !environment.isEmpty {
            places = [environment]
        } else {
            places = Self.besides(image) + ["/usr/local", "/usr"].map { "\($0)/libexec/backhaul/\(Self.programName)" }
        }
    }

    /// The first of the places where there is one.
    public var program: String? { places.first(where: Self.isProgram) }

    /// Throws daemonUnavailable, with all places that were looked at.
    public func find() throws(Failure) -> String {
        if let program { return program }
        throw Failure(
            .daemonUnavailable,
            "the daemon backhauld is not at \(places.joined(separator: ", nor at ")); install it, or name its path in "
                + "the option `daemon` or in \(Self.variable), or choose embedded hosting")
    }

    /// Beside the library, and where `make install` puts it as seen from there.
    private static func besides(_ image: String?) -> [String] {
        guard let image, let slash = image.lastIndex(of: "/") else { return [] }
        let folder = image[..<slash]
        let above = folder.lastIndex(of: "/").map { folder[..<$0] } ?? folder
        var places = ["\(folder)/\(programName)", "\(above)/libexec/backhaul/\(programName)"]
        // Distributions with folders for each architecture: /usr/lib/x86_64-linux-gnu.
        if above.hasSuffix("/lib"), let slash = above.lastIndex(of: "/") {
            places.append("\(above[..<slash])/libexec/backhaul/\(programName)")
        }
        return places
    }

    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return path.utf8.first == UInt8(ascii: "/") && stat(path, &status) == 0
            && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// The file that this code is in, links resolved: the library, or a program that it is linked into.
    private static var image: String? {
        let name = bhl_image_file().map { String(cString: $0) } ?? ""
        // A program is named as its caller chose; a library that was named without a slash was found by the linker,
        // which then knows its path.
        return resolved(name.utf8.first == UInt8(ascii: "/") ? name : "/proc/self/exe")
    }

    private static func resolved(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
