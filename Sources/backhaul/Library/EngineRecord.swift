import CBackhaul

/// A copy of the description of an engine, which is the process that runs the transfers (`bh_engine_info`).
struct EngineRecord {
    let process: Int64
    let version: String
    let isDaemon: Bool
    let started: Int64
    let connections: UInt32

    init(_ engine: bh_engine_info) {
        process = engine.process_id
        version = "\(engine.version >> 16).\(engine.version >> 8 & 0xff).\(engine.version & 0xff)"
        isDaemon = Int(engine.hosting) == BH_HOSTING_DAEMON
        started = engine.started_ms
        connections = engine.connections
    }
}
