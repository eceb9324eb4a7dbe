import Glibc

/// The bytes of resources. They follow from the number of the task and from the version, so nothing has to be kept.
enum Content {
    static func bytes(_ task: Int, version: UInt64, from start: Int64, count: Int) -> [UInt8] {
        let seed = Random.mix(UInt64(task) &* 1_000_003 &+ version)
        let first = UInt64(start) / 8
        let words = (first...(UInt64(start) + UInt64(count)) / 8).map { Random.mix(seed &+ $0).littleEndian }
        return words.withUnsafeBytes { Array($0.dropFirst(Int(start % 8)).prefix(count)) }
    }

    /// How many of the first of these bytes are those of the resource.
    static func matching(_ bytes: ArraySlice<UInt8>, _ task: Int, version: UInt64, from start: Int64) -> Int {
        let expected = Self.bytes(task, version: version, from: start, count: bytes.count)
        // With memcmp, because `elementsEqual` took a tenth of the time of the histories.
        let isSame = bytes.isEmpty || bytes.withUnsafeBytes { memcmp($0.baseAddress!, expected, $0.count) == 0 }
        return isSame ? bytes.count : zip(bytes, expected).prefix { $0 == $1 }.count
    }

    static func all(_ plan: TaskPlan, version: UInt64) -> [UInt8] {
        bytes(plan.number, version: version, from: 0, count: Int(size(plan, version: version)))
    }

    static func size(_ plan: TaskPlan, version: UInt64) -> Int64 {
        plan.size == 0 || plan.resource.keepsSize ? plan.size : plan.size + Int64(version) * 7
    }

    /// The file that a task replaces.
    static let replaced = Array("the file that was there before".utf8)

    /// The file that a program makes at the old path of a consumed file.
    static let other = Array("another file of the program".utf8)
}
