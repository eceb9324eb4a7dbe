internal import BackhaulModel
internal import BackhaulPlatform
internal import CBackhaul

// Unsafe: the items have pointers into the memory (the arena) of a batch, which is a list that the calling program
// gets. The pointers are valid until the program releases the batch.

extension bh_launch_info {
    init(_ info: LaunchInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_launch_info>.size
        application = arena.place(info.application)
        program = arena.place(info.command.program)
        arguments = arena.place(info.command.arguments)
        argument_count = info.command.arguments.count
        environment = arena.place(info.command.environment)
        environment_count = info.command.environment.count
        working_directory = arena.place(info.command.workingDirectory)
        state = info.state.rawValue
        launches = info.launches
        next_launch_ms = info.nextLaunchMilliseconds
        process_id = info.processID
        started_ms = info.startedMilliseconds
        error_message = arena.place(info.errorMessage)
    }
}

extension bh_launch {
    init(_ launch: CurrentLaunch, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_launch>.size
        id = launch.id.rawValue
        launches = launch.launches
        let buffer = arena.buffer(for: launch.sessions.count, of: UnsafePointer<bh_session_info>?.self)
        for (index, session) in launch.sessions.enumerated() {
            let info = bh_session_info(session, in: &arena)
            attention |=
                info.attention & UInt32(BH_ATTENTION_FINISHED | BH_ATTENTION_CHALLENGE | BH_ATTENTION_ACTIVITY)
            (buffer + index).initialize(to: arena.place(info))
        }
        sessions = UnsafePointer(buffer)
        session_count = launch.sessions.count
    }
}

extension bh_engine_info {
    init(_ engine: EngineInfo, storePath: String, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_engine_info>.size
        process_id = Int64(engine.processID)
        version = engine.version
        hosting = Int32(engine.isDaemon ? BH_HOSTING_DAEMON : BH_HOSTING_EMBEDDED)
        started_ms = engine.startedMilliseconds
        store = arena.place(storePath)
        connections = engine.connections
        let process = ProcessIdentity.current.processID
        shares_control_group = engine.isDaemon && ControlGroup.shared(by: engine.processID, and: process)
    }
}

extension Arena {
    /// Places an array of texts. Nil if there are none.
    fileprivate mutating func place(_ texts: [String]) -> UnsafePointer<UnsafePointer<CChar>?>? {
        guard !texts.isEmpty else { return nil }
        let pointers = buffer(for: texts.count, of: UnsafePointer<CChar>?.self)
        for (index, text) in texts.enumerated() { (pointers + index).initialize(to: place(text)) }
        return UnsafePointer(pointers)
    }
}
