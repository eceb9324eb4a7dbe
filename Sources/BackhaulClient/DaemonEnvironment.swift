internal import CLinux

/// What a daemon gets of its host's environment: what names the user, the user's places and the way into the network.
/// Everything else is the host's own business and often secret. In debug builds the switches of tests, too.
enum DaemonEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS",
        // curl's environment variables (https://everything.curl.dev/usingcurl/proxies/env.html), and OpenSSL's.
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]

    static var current: [String] {
        var entries: [String] = []
        var index = 0
        while let entry = bhl_environment_entry(index) {
            entries.append(String(cString: entry))
            index += 1
        }
        return selection(of: entries)
    }

    static func selection(of entries: [String]) -> [String] {
        entries.filter { entry in
            guard let mark = entry.firstIndex(of: "="), mark != entry.startIndex else { return false }
            let name = String(entry[..<mark])
            return names.contains(name) || name.hasPrefix("XDG_") || name.hasPrefix("LC_") || isTestSwitch(name)
        }
    }

    private static func isTestSwitch(_ name: String) -> Bool {
        #if DEBUG
        name.hasPrefix("BACKHAUL_") && name != LaunchVariable.name
        #else
        false
        #endif
    }

    private enum LaunchVariable { static let name = "BACKHAUL_LAUNCH" }
}
