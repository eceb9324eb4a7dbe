public import CBackhaul
internal import CBackhaulTables

// Unsafe: the returned pointers stay valid forever, because the texts are static.

@c @implementation
public func bh_status_name(_ status: bh_status) -> UnsafePointer<CChar>? { bht_status_name(status) }

@c @implementation
public func bh_status_text(_ status: bh_status) -> UnsafePointer<CChar>? { bht_status_text(status) }

@c @implementation
public func bh_name(_ type: UnsafePointer<CChar>?, _ value: Int64) -> UnsafePointer<CChar>? { bht_name(type, value) }
