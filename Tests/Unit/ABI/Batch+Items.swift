import BackhaulModel
import CBackhaul

@testable import BackhaulABI

extension Batch {
    convenience init(_ reply: Reply) throws { try self.init(reply, storePath: "/store") }

    func event(at index: Int) -> UnsafePointer<bh_event>? { typed(index) }

    func task(at index: Int) -> UnsafePointer<bh_task_info>? { typed(index) }

    func session(at index: Int) -> UnsafePointer<bh_session_info>? { typed(index) }

    func configuration(at index: Int) -> UnsafePointer<bh_session_configuration>? { typed(index) }

    func enqueued(at index: Int) -> UnsafePointer<bh_enqueued>? { typed(index) }

    private func typed<Item: BatchItem>(_ index: Int) -> UnsafePointer<Item>? {
        item(at: index, kind: Item.itemKind, size: MemoryLayout<Item>.size)?.assumingMemoryBound(to: Item.self)
    }
}
