internal import BackhaulClient
internal import BackhaulModel
internal import BackhaulPlatform
internal import BackhaulStore
internal import CBackhaul

#if FLEET
internal import BackhaulFleet
#endif

// Unsafe: the host guarantees that its options can be read until the call returns. All of them are copied here.

/// Reads `bh_application_options`. Fields that are not set get their defaults.
enum OptionsArgument {
    static func read(
        _ given: bh_application_options, application: String
    ) throws(Failure) -> (ApplicationOptions, LaunchCommand?) {
        let unknown = given.flags & ~UInt32(BH_APPLICATION_OBSERVES)
        guard unknown == 0 else {
            throw Failure(.invalidArgument, "options.flags has the unknown bits 0x\(String(unknown, radix: 16))")
        }
        let hosting = try hosting(given)
        let launch = try given.launch.map { pointer throws(Failure) in try LaunchArgument.read(pointer) }
        let store = try store(given)
        var options = ApplicationOptions(application: application, storePath: store, hosting: hosting)
        options.remoteStore = try remoteStore(store)
        if options.remoteStore != nil, hosting == .embedded {
            throw Failure(
                .invalidArgument,
                "a store in PostgreSQL has no embedded engine; give BH_HOSTING_DEFAULT, and run workers")
        }
        if options.remoteStore != nil, launch != nil {
            throw Failure(
                .invalidArgument, "workers on other machines cannot launch a program; remove options.launch")
        }
        options.isObserver = given.flags & UInt32(BH_APPLICATION_OBSERVES) != 0
        options.launch = ApplicationOptions.inheritedLaunch
        return (options, launch)
    }

    private static func store(_ given: bh_application_options) throws(Failure) -> String {
        guard let store = try TextArgument.optional(given.store, "options.store", limit: Limits.pathSize) else {
            if let chosen = Environment.variable("BACKHAUL_STORE"), isAddress(chosen) { return chosen }
            return try DefaultStore.path()
        }
        return isAddress(store) ? store : try absolute(store, "options.store")
    }

    /// Whether the name of a store is the address of a database, and not a path.
    private static func isAddress(_ store: String) -> Bool {
        store.hasPrefix("postgresql://") || store.hasPrefix("postgres://")
    }

    private static func remoteStore(_ store: String) throws(Failure) -> (any RemoteStore)? {
        guard isAddress(store) else { return nil }
        #if FLEET
        do throws(FleetError) { return FleetStore(try DatabaseAddress(store)) } catch { throw error.failure }
        #else
        throw Failure(.invalidArgument, "this library was built without PostgreSQL; give the path of a store")
        #endif
    }

    private static func hosting(_ given: bh_application_options) throws(Failure) -> Hosting {
        let daemon = try TextArgument.optional(given.daemon, "options.daemon", limit: Limits.pathSize)
        switch Int(given.hosting) {
        case BH_HOSTING_DEFAULT, BH_HOSTING_DAEMON:
            return .daemon(path: try daemon.map { path throws(Failure) in try absolute(path, "options.daemon") })
        case BH_HOSTING_EMBEDDED:
            guard daemon == nil else {
                throw Failure(
                    .invalidArgument,
                    "options.daemon is given, but options.hosting is BH_HOSTING_EMBEDDED; leave one of them out")
            }
            return .embedded
        default:
            throw Failure(
                .invalidArgument,
                "options.hosting is \(given.hosting); give BH_HOSTING_DAEMON or BH_HOSTING_EMBEDDED")
        }
    }

    private static func absolute(_ path: String, _ name: String) throws(Failure) -> String {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Failure(.invalidArgument, "\(name) is a relative path; give an absolute one")
        }
        return path
    }
}
