public import BackhaulModel
internal import BackhaulPlatform

/// The options of an application: `bh_application_options`, checked and with its defaults filled in.
public struct ApplicationOptions: Sendable {
    public var application: String
    /// The absolute path of the store.
    public var storePath: String
    public var hosting: Hosting
    /// Whether the process is a tool that only observes. Such a process is not a *host*, which is a process of the
    /// application that embeds the library. So the engine may start the host's program although the tool is connected.
    public var isObserver = false
    /// The launch, by which the engine started this process or one of its ancestors; nil if there is none.
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
