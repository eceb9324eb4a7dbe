import BackhaulModel
import CBackhaul

@testable import BackhaulABI

extension Batch {
    convenience init(_ reply: Reply) throws { try self.init(reply, storePath: "/store") }

    func event(at index: Int) -> UnsafePointer<bh_event>? { item(at: index) }

    func task(at index: Int) -> UnsafePointer<bh_task>? { item(at: index) }

    func session(at index: Int) -> UnsafePointer<bh_session_info>? { item(at: index) }

    func configuration(at index: Int) -> UnsafePointer<bh_session_configuration>? { item(at: index) }
}
