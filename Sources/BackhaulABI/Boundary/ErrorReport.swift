internal import BackhaulModel
internal import CBackhaul
internal import CBackhaulTables

// Unsafe: the field `struct_size` of a `bh_error` is the size of the struct. The host promises that this number of
// bytes is writable until the call returns.

/// Writes the reason of a failed call into the host's `bh_error`.
enum ErrorReport {
    /// Fills the host's `bh_error`, if it is usable, and returns the status.
    static func report(
        _ failure: Failure, ticket: OpaquePointer? = nil, to error: UnsafeMutablePointer<bh_error>?
    ) -> bh_status {
        if let destination = HostError(error) {
            destination.store(failure.status.rawValue, \.status)
            destination.store(failure.domain.rawValue, \.domain)
            destination.store(failure.detail, \.detail)
            destination.store(failure.index ?? bht_no_index(), \.index)
            destination.store(ticket, \.ticket)
            destination.storeMessage(failure.message)
        }
        return failure.status.rawValue
    }

    /// Clears the status and the ticket in the host's `bh_error`. An earlier call may have set them. A ticket stands
    /// for an operation that continues after its call has returned. With the ticket, the host reads the result later.
    static func reportSuccess(to error: UnsafeMutablePointer<bh_error>?) -> bh_status {
        if let destination = HostError(error) {
            destination.store(Status.ok.rawValue, \.status)
            destination.store(nil, \.ticket)
        }
        return Status.ok.rawValue
    }

    /// Whether the host's `bh_error` can take a ticket.
    static func isUsable(_ error: UnsafeMutablePointer<bh_error>?) -> Bool { HostError(error) != nil }

    /// Writes the text and a NUL in at most `capacity` bytes. A longer text is shortened.
    static func write(_ text: String, to destination: UnsafeMutableRawPointer, capacity: Int) {
        var text = text.utf8.count < capacity ? text : ShortenedMessage.text(text, size: capacity - 1)
        let size = text.withUTF8 { bytes in
            UnsafeMutableRawBufferPointer(start: destination, count: bytes.count).copyBytes(from: bytes)
            return bytes.count
        }
        destination.storeBytes(of: 0, toByteOffset: size, as: UInt8.self)
    }
}

/// The host's `bh_error`. If the host's version of the struct lacks a field, this field is not written.
private struct HostError {
    private static let minimumSize = StructArgument.end(of: \bh_error.message)

    private let base: UnsafeMutableRawPointer
    private let size: Int

    init?(_ error: UnsafeMutablePointer<bh_error>?) {
        guard let error else { return nil }
        base = UnsafeMutableRawPointer(error)
        size = base.loadUnaligned(as: Int.self)
        guard size >= HostError.minimumSize, size <= StructArgument.largestSize else { return nil }
    }

    func store<Field: BitwiseCopyable>(_ value: Field, _ field: KeyPath<bh_error, Field>) {
        guard let offset = MemoryLayout<bh_error>.offset(of: field), offset + MemoryLayout<Field>.size <= size else {
            return
        }
        base.storeBytes(of: value, toByteOffset: offset, as: Field.self)
    }

    func storeMessage(_ message: String) {
        guard let offset = MemoryLayout<bh_error>.offset(of: \.message) else { return }
        ErrorReport.write(message, to: base + offset, capacity: Int(BH_ERROR_MESSAGE_SIZE))
    }
}
