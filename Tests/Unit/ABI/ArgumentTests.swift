import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

@Suite("A time-out of the host")
struct TimeoutTests {
    @Test("BH_WAIT_DEFAULT is a time-out of 30 seconds")
    func standard() throws { #expect(try Timeout.milliseconds(Int32(BH_WAIT_DEFAULT)) == 30_000) }

    @Test("a time-out from 0 to one day is used unchanged", arguments: [0, 1, 86_400_000] as [Int32])
    func usual(milliseconds: Int32) throws { #expect(try Timeout.milliseconds(milliseconds) == Int64(milliseconds)) }

    @Test(
        "a time-out below 0 or above one day is refused, and the message has the refused value",
        arguments: [-1, -2, 86_400_001, .min, .max] as [Int32])
    func refused(milliseconds: Int32) {
        let failure = failure { () throws(Failure) in try Timeout.milliseconds(milliseconds) }
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("timeout_ms is \(milliseconds)") == true)
    }
}

/// A *text* is a C string.
@Suite("A text of the host")
struct TextArgumentTests {
    private func read(_ bytes: [UInt8], limit: Int = 10) throws(Failure) -> String {
        var text: String?
        var failure: Failure?
        (bytes + [0]).withUnsafeBytes { buffer in
            do throws(Failure) {
                text = try TextArgument.required(
                    buffer.assumingMemoryBound(to: CChar.self).baseAddress, "url", limit: limit)
            } catch let thrown {
                failure = thrown
            }
        }
        if let failure { throw failure }
        return text ?? ""
    }

    @Test("a text of the host is copied byte by byte")
    func copied() throws {
        #expect(try read(Array("h\u{E9}\u{1F680}".utf8)) == "h\u{E9}\u{1F680}")
    }

    @Test("a text of the host is accepted up to its limit, and refused above the limit")
    func limit() throws {
        #expect(try read(Array("0123456789".utf8)) == "0123456789")
        let failure = failure { () throws(Failure) in try read(Array("0123456789x".utf8)) }
        #expect(failure?.message == "url is longer than 10 bytes")
    }

    @Test("a text of the host is not read beyond its limit")
    func bounded() {
        // The text has no NUL at its end. Therefore, a read beyond the limit would pass the end of the array.
        let bytes = [UInt8](repeating: 0x61, count: 11)
        bytes.withUnsafeBytes { buffer in
            let failure = failure { () throws(Failure) in
                try TextArgument.required(
                    buffer.assumingMemoryBound(to: CChar.self).baseAddress, "url", limit: 10)
            }
            #expect(failure?.status == .invalidArgument)
        }
    }

    @Test(
        "a text of the host that is not UTF-8 is refused",
        arguments: [[0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        let failure = failure { () throws(Failure) in try read(bytes) }
        #expect(failure?.message == "url is not valid UTF-8")
    }

    @Test("an empty text is refused, and a missing text is refused if it is required")
    func missing() throws {
        #expect(failure { () throws(Failure) in try read([]) }?.message == "url is an empty string")
        let failure = failure { () throws(Failure) in try TextArgument.required(nil, "url", limit: 10) }
        #expect(failure?.message == "url is NULL, but it is required")
        #expect(try TextArgument.optional(nil, "url", limit: 10) == nil)
    }
}

/// The host passes C structs, which begin with their size. An *older* host was compiled with a header of an earlier
/// version, whose structs have fewer fields. A *newer* host was compiled with a header of a later version.
@Suite("A struct of the host")
struct StructArgumentTests {
    private let minimumSize = MemoryLayout<bh_application_options>.size

    private func read(_ options: bh_application_options, structSize: Int) throws(Failure) -> bh_application_options {
        var options = options
        options.struct_size = structSize
        return try StructArgument.read(&options, "options", into: bh_application_options(), minimumSize: 16)
    }

    private var filled: bh_application_options {
        var options = bh_application_options()
        options.identifier = UnsafePointer(bitPattern: 0x10)
        options.store = UnsafePointer(bitPattern: 0x20)
        return options
    }

    @Test("a struct with this library's size is copied completely")
    func whole() throws {
        let copy = try read(filled, structSize: minimumSize)
        #expect(copy.identifier == filled.identifier && copy.store == filled.store)
    }

    @Test("a struct of an older host is read only up to the size that the host states")
    func older() throws {
        let copy = try read(filled, structSize: 16)
        #expect(copy.identifier == filled.identifier && copy.store == nil)
    }

    /// Reads a struct of a newer header. The struct has a field that this library does not know. This field has
    /// `value`.
    private func readNewer(_ value: UInt64) throws(Failure) -> bh_application_options {
        var newer = (filled, value)
        newer.0.struct_size = minimumSize + 8
        var result: Result<bh_application_options, Failure> = .failure(Failure(.internal, "not read"))
        withUnsafeBytes(of: &newer) { bytes in
            guard let start = bytes.baseAddress else { return }
            result = Result { () throws(Failure) in
                try StructArgument.read(start, "options", into: bh_application_options(), minimumSize: minimumSize)
            }
        }
        return try result.get()
    }

    @Test("a struct of a newer host is read if all fields that the library does not know are 0")
    func newer() throws { #expect(try readNewer(0).store == filled.store) }

    @Test("a struct of a newer host is refused if a field that the library does not know is not 0")
    func unknown() {
        let failure = failure { () throws(Failure) in try readNewer(1) }
        #expect(failure?.message.hasPrefix("options has a field that this library does not have") == true)
    }

    @Test(
        "a struct with an impossible size is refused, and the message names the struct and the sizes",
        arguments: [0, 15, 65_537, .max, -1])
    func refused(size: Int) {
        let failure = failure { () throws(Failure) in try read(filled, structSize: size) }
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.hasPrefix("options has struct_size \(UInt(bitPattern: size)), but 16 to") == true)
    }

    @Test(
        "an array of structs with an impossible size is refused before an element is copied",
        arguments: [0, 65_544, .max, -8])
    func refusedArray(size: Int) {
        var options = filled
        options.struct_size = size
        let failure = failure { () throws(Failure) in
            try StructArgument.array(
                &options, "options", count: 1, "count", limit: 10, empty: bh_application_options(), minimumSize: 16)
        }
        #expect(failure?.status == .invalidArgument)
        let message = "options[0] has struct_size \(UInt(bitPattern: size)), but 16 to 65536 are valid"
        #expect(failure?.message.hasPrefix(message) == true)
    }

    @Test(
        "a struct whose size ends inside a field is refused, and the message has both sizes",
        arguments: [17, 20, 23, 47, 49])
    func cut(size: Int) {
        let failure = failure { () throws(Failure) in try read(filled, structSize: size) }
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.hasPrefix("options has struct_size \(size), which ends inside a field; ") == true)
        #expect(failure?.message.contains(" \(minimumSize) bytes") == true)
    }

    @Test("a struct's size in the header of version 1.0 includes the last field and the padding after it")
    func firstSizes() {
        #expect(StructArgument.end(of: \bh_error.message) == MemoryLayout<bh_error>.size)
        #expect(
            StructArgument.end(of: \bh_session_configuration.reserved) == MemoryLayout<bh_session_configuration>.size)
        #expect(StructArgument.end(of: \bh_request.after_count) == MemoryLayout<bh_request>.size)
        #expect(StructArgument.end(of: \bh_task_selection.reserved) == MemoryLayout<bh_task_selection>.size)
    }
}

@Suite("The host's umask")
struct FileCreationMaskTests {
    @Test("the umask is the octal number in the line `Umask` of /proc")
    func parse() {
        #expect(FileCreationMask.parse(Array("Name:\tUmask: 7\nUmask:\t0027\nState:\tR\n".utf8)[...]) == 0o027)
    }

    @Test("the umask is unknown if /proc has no valid line for it")
    func unknown() {
        #expect(FileCreationMask.parse(Array("Name:\thost\nState:\tR\n".utf8)[...]) == nil)
        #expect(FileCreationMask.parse(Array("Umask:\tlots\n".utf8)[...]) == nil)
    }
}
