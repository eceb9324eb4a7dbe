/// Divides the bytes of an input into the values that a target needs. At the end of the bytes, all values are zero or
/// empty.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func choice<Element>(_ elements: [Element]) -> Element { elements[Int(byte()) % elements.count] }

    mutating func flag() -> Bool { byte() % 2 == 1 }

    mutating func number() -> UInt64 { (0..<8).reduce(0) { number, _ in number << 8 | UInt64(byte()) } }

    /// The next bytes; the byte before them states their number.
    mutating func bytes() -> [UInt8] {
        let count = Int(byte())
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// A text of at most `limit` of the characters; the first byte states their number.
    mutating func text(of characters: [Character], atMost limit: Int) -> String {
        String((0..<Int(byte()) % (limit + 1)).map { _ in choice(characters) })
    }

    /// The parts of the rest between bytes with this value.
    func parts(_ separator: UInt8 = 0) -> [[UInt8]] {
        rest.split(separator: separator, omittingEmptySubsequences: false).map { Array($0) }
    }
}
