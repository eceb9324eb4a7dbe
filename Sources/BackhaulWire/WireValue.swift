/// A value that can be written into a frame and read from one. A *frame* is a message between a client and the engine,
/// with its length (docs/wire.md).
///
/// A struct is a `WireRecord`. It lists its fields only one time, for both directions (writing and reading). An enum
/// whose cases have fields has an exhaustive `switch` for each direction. The declaration of a case determines the
/// order and the types of its fields. In the frame, one byte identifies the case. Its value is the raw value of the
/// case in the nested enum `Form`. Because each `switch` is exhaustive, the compiler reports each `switch` that lacks a
/// new case.
protocol WireValue {
    func write(to coder: inout Coder)
    static func read(from coder: inout Coder) throws(Malformed) -> Self
}

/// A value with fields.
protocol WireRecord: WireValue {
    /// An empty value that a reader fills.
    static var blank: Self { get }
    /// Passes each field to the coder, in the order in which the message has the fields. If the coder is a reader, it
    /// replaces each field. If the coder is a writer, `code` does not change the record and does not throw.
    mutating func code(with coder: inout Coder) throws(Malformed)
}

extension WireRecord {
    func write(to coder: inout Coder) {
        // Unsafe: the pointer is used only until the closure returns.
        withUnsafePointer(to: self) { Self.write(UnsafeBufferPointer(start: $0, count: 1), to: &coder) }
    }

    /// Writes the records without copying them. A copy would retain and release the fields of the records, which takes
    /// longer. Unsafe: the records may be constants, but `code` needs mutable records.
    /// This is safe, because `code` does not change the records if the coder is a writer.
    fileprivate static func write(_ records: UnsafeBufferPointer<Self>, to coder: inout Coder) {
        // Unsafe: nothing writes to the buffer, as explained above.
        let records = UnsafeMutableBufferPointer(mutating: records)
        do throws(Malformed) {
            for index in records.indices { try records[index].code(with: &coder) }
        } catch {
            assertionFailure(error.reason)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Self {
        var record = blank
        try record.code(with: &coder)
        return record
    }
}

/// A value that can be an element of a list.
protocol WireElement: WireValue {
    /// The size of the shortest encoding, in bytes. The reader uses this size to check the count of a list before it
    /// allocates memory.
    static var minimumSize: Int { get }
    static func write(_ list: [Self], to coder: inout Coder)
    static func readList(from coder: inout Coder) throws(Malformed) -> [Self]
}

extension WireElement {
    static func write(_ list: [Self], to coder: inout Coder) {
        coder.write(count: list.count)
        for value in list { value.write(to: &coder) }
    }

    static func readList(from coder: inout Coder) throws(Malformed) -> [Self] {
        let count = try coder.count(of: minimumSize)
        var values: [Self] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try Self.read(from: &coder)) }
        return values
    }
}

extension WireElement where Self: WireRecord {
    static func write(_ list: [Self], to coder: inout Coder) {
        coder.write(count: list.count)
        list.withUnsafeBufferPointer { write($0, to: &coder) }
    }

    static func readList(from coder: inout Coder) throws(Malformed) -> [Self] {
        var records = [Self](repeating: blank, count: try coder.count(of: minimumSize))
        for index in records.indices { try records[index].code(with: &coder) }
        return records
    }
}

extension Array: WireValue where Element: WireElement {
    func write(to coder: inout Coder) { Element.write(self, to: &coder) }
    static func read(from coder: inout Coder) throws(Malformed) -> [Element] { try Element.readList(from: &coder) }
}

extension Optional: WireValue where Wrapped: WireValue {
    func write(to coder: inout Coder) {
        (self != nil).write(to: &coder)
        self?.write(to: &coder)
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Wrapped? {
        try Bool.read(from: &coder) ? try Wrapped.read(from: &coder) : nil
    }
}
