public import BackhaulModel
internal import BackhaulPlatform

/// The options of an application: `bh_application_options`, checked and with its defaults filled in.
public struct ApplicationOptions: Sendable {
    public var application: String
    /// The absolute path of the store, which is the directory with all durable data; the address of a remote store.
    public var storePath: String
    public var hosting: Hosting
    /// Whether the process is a tool that only observes. Such a tool is not a *host*, which is a process of the
    /// application itself. So if only tools are connected, the engine, which runs the tasks, may start the host's
    /// program.
    public var isObserver = false
    /// The token of the launch by which the engine started this process or one of its ancestors. Nil if the engine
    /// started none of them.
    public var launch: LaunchToken?
    /// The store, if it is no directory of this machine; nil if it is one.
    public var remoteStore: (any RemoteStore)?

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
