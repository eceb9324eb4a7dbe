extension UnsignedInteger where Self: FixedWidthInteger {
    /// Reads decimal digits; nil for any other character, for no digit, and for a number that is too large. Swift's own
    /// initializer also accepts a sign, which protocols do not.
    public init?(digits: some StringProtocol) {
        guard digits.utf8.allSatisfy(\.isDigit) else { return nil }
        self.init(digits)
    }
}

/// Classes of ASCII characters. Protocols such as HTTP define these classes for bytes. The properties of `Character`
/// cannot be used, because they also accept other digits and letters of Unicode.
extension UInt8 {
    /// Whether the byte is a decimal digit.
    public var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte is a letter from A to Z.
    public var isUppercase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    var isLowercase: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    var isLetter: Bool { isUppercase || isLowercase }

    /// The letter in lower case; every other byte unchanged.
    var asciiLowercase: UInt8 { isUppercase ? self + 0x20 : self }

    /// Whether the byte may be in a text without control characters.
    public var isText: Bool { self >= 0x20 && self != 0x7F }

    /// Whether the byte may be in the value of a header field: a tab, or no control character (RFC 9110, section 5.5).
    public var isFieldText: Bool { isText || self == 0x09 }

    /// The value of a hexadecimal digit; nil for every other byte.
    public var hexadecimalValue: UInt8? {
        switch self {
        case _ where isDigit: self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
