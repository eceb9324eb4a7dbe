import Glibc

/// The bytes of resources. They follow from the number of the task and from the version, so nothing has to be kept.
enum Content {
    static func bytes(_ task: Int, version: UInt64, from start: Int64, count: Int) -> [UInt8] {
        let seed = Random.mix(UInt64(task) &* 1_000_003 &+ version)
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            while filled < count {
                let position = UInt64(start) &+ UInt64(filled)
                let word = Random.mix(seed &+ position / 8) >> (position % 8 * 8)
                let size = min(8 - Int(position % 8), count - filled)
                withUnsafeBytes(of: word.littleEndian) {
                    _ = memcpy(bytes.baseAddress! + filled, $0.baseAddress!, size)
                }
                filled += size
            }
        }
    }

    static func all(_ plan: TaskPlan, version: UInt64) -> [UInt8] {
        bytes(plan.number, version: version, from: 0, count: Int(size(plan, version: version)))
    }

    static func size(_ plan: TaskPlan, version: UInt64) -> Int64 {
        plan.size == 0 || plan.resource.keepsSize ? plan.size : plan.size + Int64(version) * 7
    }

    /// The file that a task replaces.
    static let replaced = Array("the file that was there before".utf8)
}
