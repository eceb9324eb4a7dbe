internal import CBackhaulTables

/// The size and field offsets of a C struct, as compiled in this library.
struct StructLayout {
    let name: String
    let size: Int
    var fields: [(name: String, offset: Int)] = []

    /// All structs of include/backhaul.h with all their fields. A C table has the offsets, because key paths to all
    /// fields would make the library larger by 28 KB.
    static let all: [StructLayout] = {
        var count = 0
        // Unsafe: the table is constant, and it has `count` elements.
        let table = UnsafeBufferPointer(start: bht_layouts(&count), count: count)
        var layouts: [StructLayout] = []
        for row in table {
            let name = String(cString: row.name)
            if row.is_struct {
                layouts.append(StructLayout(name: name, size: row.bytes))
            } else {
                layouts[layouts.count - 1].fields.append((name: name, offset: row.bytes))
            }
        }
        return layouts
    }()
}
