public import BackhaulModel

/// Operations on the limits that apply to all sessions together, on the settings of networks, and on the bytes that
/// networks have carried.
public struct SettingOperations {
    let tables: Tables

    public func setLimits(_ limits: EngineLimits) throws(Failure) { try tables.limits.write(limits) }

    public func limits() throws(Failure) -> EngineLimits { try tables.limits.read() ?? EngineLimits() }

    /// Stores the settings of a network. If all values are the defaults, removes the network's row.
    public func setNetwork(_ settings: NetworkSettings) throws(Failure) {
        guard settings.isDefault else { return try tables.networks.write(settings) }
        try tables.networks.remove(settings.name)
    }

    /// Returns the settings of all networks that have settings, sorted by name.
    public func networks() throws(Failure) -> [NetworkSettings] { try tables.networks.all() }

    /// Stores how many bytes the networks have carried. An entry replaces the earlier entry of the same network,
    /// session and day. `removed` lists the days to remove.
    public func saveUsage(
        _ entries: [ByteUsage.Entry], removing removed: [(network: String, day: Int64)] = []
    ) throws(Failure) {
        for entry in entries { try tables.networks.writeUsage(entry) }
        for (network, day) in removed { try tables.networks.removeUsage(of: network, day: day) }
    }

    public func usage() throws(Failure) -> [ByteUsage.Entry] { try tables.networks.usage() }
}
