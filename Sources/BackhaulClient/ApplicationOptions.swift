public import BackhaulModel
internal import BackhaulPlatform

/// The options of an application: `bh_application_options`, checked and with its defaults filled in.
public struct ApplicationOptions: Sendable {
    public var application: String
    /// The absolute path of the store.
    public var storePath: String
    public var hosting: Hosting
    /// Whether the process is a tool that only observes. Such a process does not count as a host.
    public var isObserver = false
    /// The launch that started this process or one of its ancestors; nil if there is none.
    public var launch: LaunchToken?

    public init(application: String, storePath: String, hosting: Hosting) {
        self.application = application
        self.storePath = storePath
        self.hosting = hosting
    }

    /// The launch token from the environment; nil if there is none.
    public static var inheritedLaunch: LaunchToken? {
        Environment.variable(LaunchToken.variable).flatMap(LaunchToken.init)
    }
}
