/// Why a daemon ended at once, from the text on its stderr.
public enum DaemonStartError {
    /// Messages of ld.so(8) about a library that is missing, or that does not fit to the program.
    private static let loaderErrors = ["error while loading shared libraries", "symbol lookup error", "' not found ("]

    /// Returns the first line, without the program's name; nil if the text is empty.
    public static func failure(stderr text: String, program: String) -> Failure? {
        guard var line = text.split(whereSeparator: \.isNewline).first else { return nil }
        for name in [program, "backhauld"] where line.hasPrefix(name + ": ") { line = line.dropFirst(name.count + 2) }
        let isOfLoader = loaderErrors.contains { line.has($0) }
        let advice =
            "; a daemon does not get LD_LIBRARY_PATH of this process: install the library where ld.so(8) finds it, "
            + "or choose BH_HOSTING_EMBEDDED"
        return Failure(.daemonUnavailable, isOfLoader ? line + advice : String(line))
    }
}
