internal import BackhaulModel
internal import CBackhaul
internal import CBackhaulTables

extension bh_progress {
    init(_ progress: Progress) {
        self.init()
        struct_size = MemoryLayout<bh_progress>.size
        task_id = progress.task.rawValue
        state = progress.state.rawValue
        reason = progress.reason.rawValue
        offset = progress.offset
        size = progress.size ?? bht_size_unknown()
        bytes_per_second = progress.bytesPerSecond
        body_sent = progress.bodySent
        body_size = progress.bodySize
    }
}
