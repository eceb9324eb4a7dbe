internal import BackhaulModel
internal import CBackhaul

// Unsafe: the pointer leads into the memory (the arena) of a batch, which is a list that the calling program gets. The
// pointer is valid until the program releases the batch.

extension bh_application_info {
    init(_ info: ApplicationInfo, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_application_info>.size
        identifier = arena.place(info.identifier)
        sessions = info.sessions
        live_tasks = info.liveTasks
        running_tasks = info.runningTasks
        events = info.events
        hosts = info.hosts
        has_launch_command = info.hasLaunchCommand
    }
}
