import Backhaul

/// The option `--range` of `get`, `add` and `put`, with the form of curl's option.
struct RangeOption {
    static let description = OptionDescription(
        "range", "r", "FIRST-LAST", "transfer only the bytes FIRST to LAST, counted from 0; FIRST-: up to the end")

    private let first: UInt64?
    private let size: UInt64?

    init(_ arguments: Arguments) throws(CommandError) {
        guard let text = arguments.value("range") else {
            (first, size) = (nil, nil)
            return
        }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = RangeOption.number(ends[0]) else { throw RangeOption.misused(text) }
        first = start
        if ends[1].isEmpty {
            size = nil
            return
        }
        guard let last = RangeOption.number(ends[1]), last >= start, last < UInt64(Int64.max) else {
            throw RangeOption.misused(text)
        }
        size = last - start + 1
    }

    func change(_ request: inout Request) {
        request.rangeStart = first
        request.rangeSize = size
    }

    /// The range of a request in the form of the option; nil if it has none.
    static func text(of request: Request) -> String? {
        guard request.rangeStart != nil || request.rangeSize != nil else { return nil }
        let first = request.rangeStart ?? 0
        return "\(first)-" + (request.rangeSize.map { String(first + $0 - 1) } ?? "")
    }

    private static func number(_ digits: Substring) -> UInt64? {
        digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt64(digits) : nil
    }

    private static func misused(_ text: String) -> CommandError {
        .usage("--range takes FIRST-LAST or FIRST-, such as 0-499, not '\(text)'")
    }
}
