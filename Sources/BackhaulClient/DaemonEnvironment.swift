internal import BackhaulModel
internal import BackhaulPlatform

/// What a daemon gets of its host's environment: what names the user, the user's places and the way into the network.
/// Everything else is the host's own business and often secret. In debug builds the switches of tests, too.
enum DaemonEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS",
        // curl's environment variables (https://everything.curl.dev/usingcurl/proxies/env.html), and OpenSSL's.
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        "SSL_CERT_FILE", "SSL_CERT_DIR",
        // Where a container or a test has the system's conditions.
        "DBUS_SYSTEM_BUS_ADDRESS", "BACKHAUL_SYS_ROOT", "BACKHAUL_PROC_ROOT",
    ]

    /// By name.
    static var current: [String: String] { selection(of: Environment.entries) }

    static func selection(of entries: [String]) -> [String: String] {
        let named = entries.compactMap(Environment.split).filter { passes($0.name) }
        return Dictionary(named.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func passes(_ name: String) -> Bool {
        names.contains(name) || name.hasPrefix("XDG_") || name.hasPrefix("LC_") || isTestSwitch(name)
    }

    private static func isTestSwitch(_ name: String) -> Bool {
        #if DEBUG
        name.hasPrefix("BACKHAUL_") && name != LaunchToken.variable
        #else
        false
        #endif
    }
}
