import CBackhaul

/// Copies of what the library tells of an engine and its launches.

// Unsafe: pointers into a batch, which lives while its items are copied.
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

struct LaunchRecord {
    let application: String
    let program: String
    let state: Int
    let launches: UInt32
    let process: Int64
    let errorMessage: String?

    init(_ launch: bh_launch_info) {
        application = launch.application.map { String(cString: $0) } ?? ""
        program = launch.program.map { String(cString: $0) } ?? ""
        state = Int(launch.state)
        launches = launch.launches
        process = launch.process_id
        errorMessage = launch.error_message.map { String(cString: $0) }
    }
}
