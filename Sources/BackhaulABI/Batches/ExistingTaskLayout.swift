internal import BackhaulModel
internal import CBackhaul

extension bh_existing_task {
    init(_ task: Enqueued, of request: Int) {
        self.init()
        struct_size = MemoryLayout<bh_existing_task>.size
        self.request = UInt64(request)
        task_id = task.task.rawValue
        event_id = task.end.rawValue
        state = task.state?.rawValue ?? 0
    }
}
