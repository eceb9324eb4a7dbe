internal import BackhaulModel
internal import CBackhaul

extension bh_enqueued {
    init(_ item: Enqueued, of request: Int) {
        self.init()
        struct_size = MemoryLayout<bh_enqueued>.size
        self.request = UInt64(request)
        task_id = item.task.rawValue
        event_id = item.end.rawValue
        disposition = item.disposition.rawValue
        task_state = item.state?.rawValue ?? 0
    }
}
