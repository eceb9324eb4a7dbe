/// A list of HTTP statuses and ranges of statuses, such as "200-299,404". The settings `accepted_statuses` and
/// `retry_statuses` are such lists.
public struct StatusList: Equatable, Sendable {
    public private(set) var ranges: [ClosedRange<Int32>]

    /// The longest text, in bytes. A longer text is an error.
    public static let sizeMaximum = 512

    /// Returns nil if the text is empty, or is not a list of statuses from 100 to 599.
    public init?(_ text: String) {
        guard text.utf8.count <= StatusList.sizeMaximum else { return nil }
        var ranges: [ClosedRange<Int32>] = []
        for item in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let bounds = item.filter { $0 != UInt8(ascii: " ") }
                .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
                .map { StatusList.status($0) }
            switch bounds.count {
            case 1:
                guard let only = bounds[0] else { return nil }
                ranges.append(only...only)
            case 2:
                guard let first = bounds[0], let last = bounds[1], first <= last else { return nil }
                ranges.append(first...last)
            default: return nil
            }
        }
        self.ranges = ranges
    }

    private static func status(_ digits: ArraySlice<UInt8>) -> Int32? {
        guard digits.count == 3, digits.allSatisfy(\.isDigit) else { return nil }
        let status = digits.reduce(0) { $0 * 10 + Int32($1 - 0x30) }
        return (100...599).contains(status) ? status : nil
    }

    public func contains(_ status: Int32) -> Bool { ranges.contains { $0.contains(status) } }

    /// The text in the form that `init` reads.
    public var text: String {
        ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }

    /// The statuses 2xx (RFC 9110, section 15.3).
    public static let successful = StatusList(ranges: [200...299])

    /// Statuses of temporary failures: 408, 500, 502, 503 and 504 (RFC 9110), 425 (RFC 8470) and 429 (RFC 6585). With
    /// 520 to 530, a content network reports that it could not reach the origin server.
    public static let transient = StatusList(
        ranges: [408...408, 425...425, 429...429, 500...500, 502...504, 520...530])

    private init(ranges: [ClosedRange<Int32>]) { self.ranges = ranges }
}
