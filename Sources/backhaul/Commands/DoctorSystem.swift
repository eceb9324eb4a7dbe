import BackhaulUserManager
import Backhaul
import Glibc

/// The findings of `backhaul doctor` about the machine and the installation.
enum DoctorSystem {
    /// The versions of the libraries in this process. The daemon, which runs transfers in its own process, loads the
    /// same libraries if it belongs to the same installation.
    static var versions: Finding {
        let libraries = [
            ("libcurl", "curl_version"), ("libuv", "uv_version_string"), ("SQLite", "sqlite3_libversion"),
        ].compactMap { name, function in
            version(function).map { $0.split(separator: " ").first.map(String.init) ?? $0 }.map { text in
                "\(name) \(text.split(separator: "/").last.map(String.init) ?? text)"
            }
        }
        return .ok(
            "version",
            (["backhaul \(LibraryVersion.text)"] + libraries).joined(separator: ", "))
    }

    private static func version(_ function: String) -> String? {
        guard let found = dlsym(nil, function) else { return nil }
        // Unsafe: each of the three functions is documented as `const char *name(void)`.
        let call = unsafeBitCast(found, to: (@convention(c) () -> UnsafePointer<CChar>?).self)
        return call().map { String(cString: $0) }
    }

    static var daemon: Finding {
        let finder = DaemonFinder(path: nil)
        if let program = finder.program { return .ok("daemon", program) }
        let (reason, remedy) = finder.problem
        return .error(
            "daemon", reason,
            "\(remedy.prefix(1).uppercased() + remedy.dropFirst()), or name its path in \(DaemonFinder.variable).")
    }

    static func manager(isDaemonSeparate: Bool) -> [Finding] {
        switch UserManager.find() {
        case .none(let reason):
            // When systemd stops a service, it also stops a daemon that the service has started. This does not happen
            // if the user manager has started the daemon. On a machine without systemd, no service exists, so the
            // missing user manager is no problem.
            let finding = Finding(
                level: Service.hasSystemd && !isDaemonSeparate ? .warning : .ok, subject: "manager",
                text: plain(reason),
                advice: Service.hasSystemd && !isDaemonSeparate
                    ? "A daemon that you start here is stopped with the service that starts it; see docs/services.md."
                    : nil)
            return [finding]
        case .manager(let manager):
            return [.ok("manager", "systemd \(manager.version)"), lingering]
        }
    }

    private static var lingering: Finding {
        switch Lingering.current {
        case .on:
            .ok("lingering", "on: transfers continue after logout, and after boot with `backhaul service install`")
        case .off:
            .warning(
                "lingering", "off: transfers pause from your last logout to the next login",
                "`loginctl enable-linger` lets them continue.")
        case .absent: .ok("lingering", "systemd does not run this machine")
        }
    }

    private static func plain(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}
