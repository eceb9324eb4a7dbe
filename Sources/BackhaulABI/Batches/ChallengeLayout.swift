internal import BackhaulModel
internal import CBackhaul

extension bh_challenge {
    init(_ challenge: Challenge, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_challenge>.size
        id = challenge.id.rawValue
        kind = challenge.space.kind.rawValue
        schemes = challenge.schemes.rawValue
        origin = arena.place(challenge.space.origin)
        realm = arena.place(challenge.space.realm)
        failures = challenge.failures
        time_ms = challenge.timeMilliseconds
        waiting_tasks = challenge.waitingTasks
        task_id = challenge.space.task?.rawValue ?? 0
        url = arena.place(challenge.url)
    }
}
