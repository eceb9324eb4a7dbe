internal import CBackhaul
internal import CBackhaulTables

// Unsafe: the texts are static.

@c @implementation
public func bh_version() -> UInt32 { bht_version() }

@c @implementation
public func bh_version_string() -> UnsafePointer<CChar>? { bht_version_string() }

@c @implementation
public func bh_abi_json() -> UnsafePointer<CChar>? { LayoutManifest.json }
