internal import CBackhaul
internal import CBackhaulTables

// Unsafe: the texts are static. The host guarantees that the struct to be initialized has at least the given size.

@c @implementation
public func bh_init(_ value: UnsafeMutableRawPointer?, _ size: Int) {
    guard let value, size >= MemoryLayout<Int>.size else { return }
    value.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    value.storeBytes(of: size, as: Int.self)
}

@c @implementation
public func bh_version() -> UInt32 { bht_version() }

@c @implementation
public func bh_version_string() -> UnsafePointer<CChar>? { bht_version_string() }

@c @implementation
public func bh_abi_json() -> UnsafePointer<CChar>? { LayoutManifest.json }
