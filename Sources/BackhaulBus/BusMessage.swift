public import BackhaulPlatform
internal import CLinux
internal import CSystemd
internal import Glibc

/// A message of sd-bus. It is released when the last reference to this object ends.
public final class BusMessage {
    // Unsafe: an opaque object of libsystemd. We own the reference.
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
        case .path(let text):
            try BusError.check(text.withCString { library.message_append_basic(pointer, type("o"), $0) })
        case .bool(let flag): try append(Int32(flag ? 1 : 0), as: "b")
        case .byte(let number): try append(number, as: "y")
        case .int32(let number): try append(number, as: "i")
        case .uint32(let number): try append(number, as: "u")
        case .int64(let number): try append(number, as: "x")
        case .uint64(let number): try append(number, as: "t")
        case .double(let number): try append(number, as: "d")
        case .array(let element, let values): try append(values, in: "a", of: element)
        case .structure(let values): try append(values, in: "r", of: values.map(\.signature).joined())
        case .variant(let inner): try append([inner], in: "v", of: inner.signature)
        case .property(let name, let value): try append([.string(name), .variant(value)], in: "e", of: "sv")
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

    /// Reads the next value, which must be a string (`s`) or an object's path (`o`).
    public func readString(_ letter: Unicode.Scalar = "s") throws(BusError) -> String {
        // Unsafe: the pointer points into the message, and the text is copied here.
        var text: UnsafePointer<CChar>?
        try BusError.check(library.message_read_basic(pointer, type(letter), &text))
        return text.map { String(cString: $0) } ?? ""
    }

    /// Reads the array of strings that comes next.
    public func readStrings() throws(BusError) -> [String] {
        var texts: [String] = []
        try BusError.check(library.message_enter_container(pointer, type("a"), "s"))
        while true {
            // Unsafe: the pointer points into the message, and the text is copied here.
            var text: UnsafePointer<CChar>?
            let result = library.message_read_basic(pointer, type("s"), &text)
            try BusError.check(result)
            guard result > 0, let text else { break }
            texts.append(String(cString: text))
        }
        try BusError.check(library.message_exit_container(pointer))
        return texts
    }

    /// Reads a descriptor and returns a copy. The copy is closed when its last reference ends. Forked children and
    /// programs that this process starts do not keep it: logind grants rights as descriptors.
    public func readDescriptor() throws(BusError) -> Descriptor {
        var number: Int32 = -1
        try BusError.check(library.message_read_basic(pointer, type("h"), &number))
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw BusError(code: bhl_errno()) }
        return Descriptor(owning: copy, closesOnFork: true)
    }

    /// Reads the properties that come next (`a{sv}`), and returns the properties with the given names. A property is
    /// ignored if its value is not a string, a path, a Boolean or a 32-bit integer.
    public func readProperties(_ names: Set<String>) throws(BusError) -> [String: BusValue] {
        var properties: [String: BusValue] = [:]
        try BusError.check(library.message_enter_container(pointer, type("a"), "{sv}"))
        while true {
            let result = library.message_enter_container(pointer, type("e"), "sv")
            try BusError.check(result)
            if result == 0 { break }
            let name = try readString()
            if names.contains(name), let value = try readSimpleVariant() {
                properties[name] = value
            } else {
                try BusError.check(library.message_skip(pointer, "v"))
            }
            try BusError.check(library.message_exit_container(pointer))
        }
        try BusError.check(library.message_exit_container(pointer))
        return properties
    }

    /// Reads a variant with a string, path, Boolean or 32-bit integer. If the variant has another type, returns nil and
    /// reads nothing.
    private func readSimpleVariant() throws(BusError) -> BusValue? {
        var letter: CChar = 0
        // Unsafe: the pointer points into the message, and is used only here.
        var contents: UnsafePointer<CChar>?
        try BusError.check(library.message_peek_type(pointer, &letter, &contents))
        guard letter == type("v"), let contents else { return nil }
        switch String(cString: contents) {
        case "s": return .string(try readVariant("s") { inner throws(BusError) in try inner.readString() })
        case "o": return .path(try readVariant("o") { inner throws(BusError) in try inner.readString("o") })
        case "b": return .bool(try readVariant("b") { inner throws(BusError) in try inner.readBool() })
        case "u": return .uint32(try readVariant("u") { inner throws(BusError) in try inner.readUInt32() })
        case "i": return .int32(try readVariant("i") { inner throws(BusError) in try inner.readInt32() })
        default: return nil
        }
    }

    public func readUInt32() throws(BusError) -> UInt32 {
        var number: UInt32 = 0
        try BusError.check(library.message_read_basic(pointer, type("u"), &number))
        return number
    }

    public func readInt32() throws(BusError) -> Int32 {
        var number: Int32 = 0
        try BusError.check(library.message_read_basic(pointer, type("i"), &number))
        return number
    }

    public func readBool() throws(BusError) -> Bool {
        var number: Int32 = 0
        try BusError.check(library.message_read_basic(pointer, type("b"), &number))
        return number != 0
    }

    /// Applies `read` to the contents of the next variant.
    public func readVariant<Result>(
        _ signature: String, _ read: (BusMessage) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try BusError.check(library.message_enter_container(pointer, type("v"), signature))
        let result = try read(self)
        try BusError.check(library.message_exit_container(pointer))
        return result
    }

    /// Applies `read` to the message. If `read` throws, the error is converted to a `CallError`.
    public func value<Result>(
        _ read: (BusMessage) throws(BusError) -> Result
    ) throws(BusConnection.CallError) -> Result {
        do throws(BusError) { return try read(self) } catch { throw .broken(error.code) }
    }

    /// The cookie of the call to which this message replies, or nil.
    public var replyCookie: UInt64? {
        var cookie: UInt64 = 0
        return library.message_get_reply_cookie(pointer, &cookie) >= 0 ? cookie : nil
    }

    /// The name and sentence of the error that this message reports, or nil.
    public var error: (name: String, sentence: String)? {
        guard let error = library.message_get_error(pointer), let name = error.pointee.name else { return nil }
        return (String(cString: name), error.pointee.message.map { String(cString: $0) } ?? "")
    }

    /// The unique name of the sender. The bus sets this name, so it is reliable. Nil before the bus has accepted the
    /// connection.
    public var sender: String? { library.message_get_sender(pointer).map { String(cString: $0) } }

    /// If the message is a signal, the path of the object that sent it.
    public var path: String? { library.message_get_path(pointer).map { String(cString: $0) } }

    public func isSignal(_ member: String, of interface: String) -> Bool {
        library.message_is_signal(pointer, interface, member) > 0
    }

    private func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }
}
