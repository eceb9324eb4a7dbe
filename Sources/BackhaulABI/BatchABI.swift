internal import BackhaulModel
public import CBackhaul

// Unsafe: the returned pointers point into the memory of a batch. A batch is a list that a call of the library returns
// to the calling program. The pointers are valid until the program releases the batch.

@c @implementation
public func bh_batch_count(_ batch: OpaquePointer?) -> Int { Batch.of(batch)?.count ?? 0 }

@c @implementation
public func bh_batch_more(_ batch: OpaquePointer?) -> Bool { Batch.of(batch)?.more == true }

@c @implementation
public func bh_batch_item(
    _ batch: OpaquePointer?, _ index: Int, _ kind: bh_item_kind, _ size: Int
) -> UnsafeRawPointer? {
    Batch.of(batch)?.item(at: index, kind: kind, size: size)
}

@c @implementation
public func bh_batch_release(_ batch: OpaquePointer?) {
    _ = HandleTable.current.remove(batch) { target -> Batch? in
        if case .batch(let batch) = target { batch } else { nil }
    }
}
