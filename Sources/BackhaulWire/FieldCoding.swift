internal import BackhaulModel

// Writes and reads options in the formats of docs/wire.md.

extension Coder: FieldVisitor {
    typealias Problem = Malformed

    mutating func visit<Value>(_ value: inout Value, _ option: Option<Value>) throws(Malformed) {
        if isReading { value = try read(option) } else { write(field: value) }
    }

    mutating func visit<Value>(_ value: inout Value?, _ option: Option<Value>) throws(Malformed) {
        if isReading {
            value = try next(Bool.self) ? try read(option) : nil
        } else {
            (value != nil).write(to: &self)
            if let value { write(field: value) }
        }
    }

    mutating func visit(_ headers: inout [HeaderField], _ name: String) throws(Malformed) { try field(&headers) }

    private mutating func write<Value: FieldValue>(field value: Value) {
        switch value.content {
        case .text(let text): text.write(to: &self)
        case .integer(let bits):
            switch Value.kind.size {
            case 1: write(UInt8(truncatingIfNeeded: bits))
            case 2: write(UInt16(truncatingIfNeeded: bits))
            case 4: write(UInt32(truncatingIfNeeded: bits))
            default: write(bits)
            }
        }
    }

    private mutating func read<Value: FieldValue>(_ option: Option<Value>) throws(Malformed) -> Value {
        let content: FieldContent =
            switch Value.kind.size {
            case 0: .text(try String.read(from: &self))
            case 1: .integer(UInt64(try integer() as UInt8))
            case 2: .integer(UInt64(try integer() as UInt16))
            case 4: .integer(UInt64(try integer() as UInt32))
            default: .integer(try integer())
            }
        guard let value = Value(content), Value.kind != .flag || value.content == content else {
            throw Malformed("it has an invalid \(option.name)")
        }
        return value
    }
}

extension FieldKind {
    /// The number of bytes of an integer in messages; 0 for a text.
    fileprivate var size: Int {
        switch self {
        case .number(let bytes): bytes
        case .flag, .code: 1
        case .bits: 4
        case .text: 0
        }
    }
}
