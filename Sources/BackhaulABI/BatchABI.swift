internal import BackhaulModel
public import CBackhaul

// Unsafe: the returned pointers point into the memory of a batch. They are valid until the host releases the batch.

@c @implementation
public func bh_batch_count(_ batch: OpaquePointer?) -> Int {
    var count = 0
    Call.plain { count = Batch.of(batch)?.count ?? 0 }
    return count
}

@c @implementation
public func bh_batch_more(_ batch: OpaquePointer?) -> Bool {
    var more = false
    Call.plain { more = Batch.of(batch)?.more == true }
    return more
}

@c @implementation
public func bh_batch_item(
    _ batch: OpaquePointer?, _ index: Int, _ kind: bh_item_kind, _ size: Int
) -> UnsafeRawPointer? {
    var item: UnsafeRawPointer?
    Call.plain { item = Batch.of(batch)?.item(at: index, kind: kind, size: size) }
    return item
}

@c @implementation
public func bh_batch_release(_ batch: OpaquePointer?) {
    Call.plain {
        _ = HandleTable.current.remove(batch) { target -> Batch? in
            if case .batch(let batch) = target { batch } else { nil }
        }
    }
}
