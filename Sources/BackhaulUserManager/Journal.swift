internal import BackhaulModel
internal import BackhaulPlatform

/// Writes messages to the system's journal, one at a time.
///
/// This is systemd's native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). sd_journal_sendv is not used: it
/// waits without a limit for a stopped or busy journal, and leaves a descriptor open.
public struct Journal: Sendable {
    /// How serious a message is (syslog(3)).
    public enum Priority: Int32, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case information = 6
        case debug = 7
    }

    /// The largest size of one text, in bytes. Longer texts are cut, because a text that does not fit into a datagram
    /// would need a file in memory (memfd_create(2)).
    static let maximumTextSize = 32 << 10

    private let socketPath: String
    private let identifier: String

    /// - identifier: SYSLOG_IDENTIFIER of all messages, as in `journalctl -t backhauld`.
    /// - socketPath: where the journal listens.
    public init(identifier: String = "backhauld", socketPath: String = "/run/systemd/journal/socket") {
        self.identifier = identifier
        self.socketPath = socketPath
    }

    /// Whether a journal listens on the socket.
    public var isAvailable: Bool { UnixDatagramSocket.connect(path: socketPath) != nil }

    /// Sends a message without waiting. Any thread may call this function.
    /// - fields: additional fields. A name has only capitals, digits and underscores, such as `BACKHAUL_STORE`
    ///   (systemd.journal-fields(7)). Fields with other names are ignored.
    /// - Returns: false if there is no journal, or if it is busy.
    @discardableResult
    public func send(_ message: String, priority: Priority, fields: [String: String] = [:]) -> Bool {
        let datagram = Journal.datagram(message, priority: priority, identifier: identifier, fields: fields)
        return UnixDatagramSocket.connect(path: socketPath)?.send(datagram) ?? false
    }

    static func datagram(
        _ message: String, priority: Priority, identifier: String, fields: [String: String]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        append("MESSAGE", message, to: &bytes)
        append("PRIORITY", String(priority.rawValue), to: &bytes)
        append("SYSLOG_IDENTIFIER", identifier, to: &bytes)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where isFieldName(name) {
            append(name, value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        let value = value.utf8.prefix(maximumTextSize)
        bytes += name.utf8
        if value.contains(UInt8(ascii: "\n")) {
            // If a value has several lines, its length comes before it, as 64 bits in little endian.
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.count).littleEndian) { bytes += $0 }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
        bytes.append(UInt8(ascii: "\n"))
    }

    private static func isFieldName(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 64, first != UInt8(ascii: "_") else { return false }
        return !first.isDigit && name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isUppercase || $0.isDigit }
    }
}
