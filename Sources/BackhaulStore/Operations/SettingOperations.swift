public import BackhaulModel

/// Limits on all sessions of the store together, and the network settings of administrators.
public struct SettingOperations {
    let tables: Tables

    public func setLimits(_ limits: EngineLimits) throws(Failure) { try tables.limits.write(limits) }

    public func limits() throws(Failure) -> EngineLimits { try tables.limits.read() ?? EngineLimits() }

    /// Stores the settings. Settings with only default values remove the network.
    public func setNetwork(_ settings: NetworkSettings) throws(Failure) {
        guard settings.isDefault else { return try tables.networks.write(settings) }
        try tables.networks.remove(settings.name)
    }

    /// Returns the networks that have settings, by name.
    public func networks() throws(Failure) -> [NetworkSettings] { try tables.networks.all() }

    /// Stores usage. An entry replaces the earlier one of the same network, session and day. `removed`: days to remove.
    public func saveUsage(
        _ entries: [ByteUsage.Entry], removing removed: [(network: String, day: Int64)] = []
    ) throws(Failure) {
        for entry in entries { try tables.networks.writeUsage(entry) }
        for (network, day) in removed { try tables.networks.removeUsage(of: network, day: day) }
    }

    public func usage() throws(Failure) -> [ByteUsage.Entry] { try tables.networks.usage() }
}
