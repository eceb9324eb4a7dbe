internal import BackhaulModel
internal import BackhaulPlatform

/// The environment of a daemon, which is a process that only performs transfers for other programs. The environment has
/// those variables of the host that concern the user, the user's directories, and access to the network. The other
/// variables are not passed, because they belong to the host and are often secret. Debug builds also pass the variables
/// with which tests control the library.
enum DaemonEnvironment {
    private static let names: Set<String> = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS",
        // The environment variables of curl (https://everything.curl.dev/usingcurl/proxies/env.html) and OpenSSL.
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        "SSL_CERT_FILE", "SSL_CERT_DIR",
        // Where objects of S3 and credentials for them are found. The variables with secrets are not passed.
        "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION",
        "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
        "AWS_EC2_METADATA_DISABLED", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        // These variables say where the daemon reads the system's conditions in a container or a test.
        "DBUS_SYSTEM_BUS_ADDRESS", "BACKHAUL_SYS_ROOT", "BACKHAUL_PROC_ROOT",
    ]

    /// The variables of this process that a daemon gets, by name.
    static var current: [String: String] { selection(of: Environment.entries) }

    static func selection(of entries: [String]) -> [String: String] {
        let named = entries.compactMap(Environment.split).filter { isPassed($0.name) }
        return Dictionary(named.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func isPassed(_ name: String) -> Bool {
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
