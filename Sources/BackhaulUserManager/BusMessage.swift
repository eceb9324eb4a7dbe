internal import CSystemd
internal import Glibc

/// A value of D-Bus's type system (D-Bus specification, "Type System"), as far as the calls here need it.
indirect enum BusValue: Equatable, Sendable {
    case string(String)
    case bool(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case uint64(UInt64)
    /// The signature is that of an element.
    case array(String, [BusValue])
    case structure([BusValue])
    case variant(BusValue)

    static func strings(_ texts: [String]) -> BusValue { .array("s", texts.map { .string($0) }) }

    var signature: String {
        switch self {
        case .string: "s"
        case .bool: "b"
        case .int32: "i"
        case .uint32: "u"
        case .uint64: "t"
        case .array(let element, _): "a" + element
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }
}

/// A system error number of a call of sd-bus; 0 for what is no system error.
struct BusError: Error {
    var code: Int32

    static func check(_ result: Int32) throws(BusError) {
        if result < 0 { throw BusError(code: -result) }
    }
}

/// A message of sd-bus, released with its last reference.
final class BusMessage {
    // Unsafe: an opaque object of libsystemd, whose reference is ours.
    let pointer: OpaquePointer
    private let library: bhl_systemd

    init(owning pointer: OpaquePointer, _ library: bhl_systemd) {
        self.pointer = pointer
        self.library = library
    }

    deinit { _ = library.message_unref(pointer) }

    func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .string(let text):
            try BusError.check(text.withCString { library.message_append_basic(pointer, type("s"), $0) })
        case .bool(let flag): try append(Int32(flag ? 1 : 0), as: "b")
        case .int32(let number): try append(number, as: "i")
        case .uint32(let number): try append(number, as: "u")
        case .uint64(let number): try append(number, as: "t")
        case .array(let element, let values): try append(values, in: "a", of: element)
        case .structure(let values): try append(values, in: "r", of: values.map(\.signature).joined())
        case .variant(let inner): try append([inner], in: "v", of: inner.signature)
        }
    }

    private func append<Number: BitwiseCopyable>(_ number: Number, as letter: Unicode.Scalar) throws(BusError) {
        var number = number
        try BusError.check(library.message_append_basic(pointer, type(letter), &number))
    }

    private func append(
        _ values: [BusValue], in container: Unicode.Scalar, of contents: String
    ) throws(BusError) {
        try BusError.check(library.message_open_container(pointer, type(container), contents))
        for value in values { try append(value) }
        try BusError.check(library.message_close_container(pointer))
    }

    /// The next value, which has to be a string (`s`) or an object's path (`o`).
    func readString(_ letter: Unicode.Scalar = "s") throws(BusError) -> String {
        // Unsafe: points into the message, and is copied here.
        var text: UnsafePointer<CChar>?
        try BusError.check(library.message_read_basic(pointer, type(letter), &text))
        return text.map { String(cString: $0) } ?? ""
    }

    func readUInt32() throws(BusError) -> UInt32 {
        var number: UInt32 = 0
        try BusError.check(library.message_read_basic(pointer, type("u"), &number))
        return number
    }

    func readInt32() throws(BusError) -> Int32 {
        var number: Int32 = 0
        try BusError.check(library.message_read_basic(pointer, type("i"), &number))
        return number
    }

    func readBool() throws(BusError) -> Bool {
        var number: Int32 = 0
        try BusError.check(library.message_read_basic(pointer, type("b"), &number))
        return number != 0
    }

    /// What `read` makes of the contents of the variant that comes next.
    func readVariant<Result>(
        _ signature: String, _ read: (BusMessage) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try BusError.check(library.message_enter_container(pointer, type("v"), signature))
        let result = try read(self)
        try BusError.check(library.message_exit_container(pointer))
        return result
    }

    /// The cookie of the call that this answers.
    var replyCookie: UInt64? {
        var cookie: UInt64 = 0
        return library.message_get_reply_cookie(pointer, &cookie) >= 0 ? cookie : nil
    }

    /// The error that this message is: its name and sentence.
    var error: (name: String, sentence: String)? {
        guard let error = library.message_get_error(pointer), let name = error.pointee.name else { return nil }
        return (String(cString: name), error.pointee.message.map { String(cString: $0) } ?? "")
    }

    func isSignal(_ member: String, of interface: String) -> Bool {
        library.message_is_signal(pointer, interface, member) > 0
    }

    private func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }
}
