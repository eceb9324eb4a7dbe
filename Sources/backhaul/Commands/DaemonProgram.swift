import CLinux
import Glibc

/// Where backhauld is, as the library looks for it (bh_application_options.daemon in backhaul.h).
enum DaemonProgram {
    static var places: [String] {
        if let named = environment("BACKHAUL_DAEMON") { return [named] }
        var places: [String] = []
        if let found = realpath("/proc/self/exe", nil) {
            defer { free(found) }
            let folder = parent(String(cString: found))
            places = [Paths.join(folder, "backhauld"), Paths.join(parent(folder), "libexec/backhaul/backhauld")]
        }
        return places + ["/usr/local/libexec/backhaul/backhauld", "/usr/libexec/backhaul/backhauld"]
    }

    static func find() throws(CommandError) -> String {
        for place in places where place.hasPrefix("/") && access(place, X_OK) == 0 { return place }
        throw .stopped(
            .libraryFailed,
            "The daemon backhauld is not at \(places.joined(separator: ", nor at ")); install it, or name its path in "
                + "BACKHAUL_DAEMON.")
    }

    private static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }
}
