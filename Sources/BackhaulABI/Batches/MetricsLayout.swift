internal import CBackhaul

// Unsafe: the pointer leads into the memory (the arena) of a batch, which is a list that the calling program gets. The
// pointer is valid until the program releases the batch.

extension bh_metrics {
    init(_ text: String, in arena: inout Arena) {
        self.init()
        struct_size = MemoryLayout<bh_metrics>.size
        self.text = arena.place(text)
    }
}
