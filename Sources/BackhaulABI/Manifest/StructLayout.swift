/// The size and field offsets of a C struct, as compiled in this library.
struct StructLayout {
    let name: String
    let size: Int
    let fields: [(name: String, offset: Int)]

    init<Struct>(_ name: String, _ type: Struct.Type, fields: [(name: String, path: PartialKeyPath<Struct>)]) {
        self.name = name
        size = MemoryLayout<Struct>.size
        // All fields of an imported C struct have an offset, so `compactMap` drops none. A test compares the offsets
        // with those of a C compiler.
        self.fields = fields.compactMap { name, path in
            MemoryLayout<Struct>.offset(of: path).map { (name: name, offset: $0) }
        }
    }
}
