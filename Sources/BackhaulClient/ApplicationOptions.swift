public import BackhaulModel
internal import BackhaulPlatform

/// How a host opens an application: `bh_application_options`, checked and with its defaults filled in.
public struct ApplicationOptions: Sendable {
    public var application: String
    /// Absolute.
    public var storePath: String
    public var hosting: Hosting
    /// A tool that looks on and is no host.
    public var isObserver = false
    /// The launch that started this process, or one before it.
    public var launch: LaunchToken?

    public init(application: String, storePath: String, hosting: Hosting) {
        self.application = application
        self.storePath = storePath
        self.hosting = hosting
    }

    /// What the environment tells of a launch.
    public static var inheritedLaunch: LaunchToken? {
        Environment.variable(LaunchToken.variable).flatMap(LaunchToken.init)
    }
}
