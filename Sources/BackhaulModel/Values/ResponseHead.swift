/// Status line and header of the last response of an attempt, redirects and interim responses passed over.
public struct ResponseHead: Equatable, Sendable {
    public var status: Int32
    /// The URL that answered.
    public var finalURL: String
    public var isHTTP2: Bool
    /// In order of arrival, names as sent. Bounded by the transport.
    public var fields: [HeaderField]
    /// From Retry-After, in either of its forms (RFC 9110, section 10.2.3).
    public var retryAfterSeconds: Int64?
    /// Of the server that answered: "https://example.org:443".
    public var origin: String
    /// Of the HTTP proxy on the way to it, nil when there is none.
    public var proxy: String?

    public init(
        status: Int32, finalURL: String, isHTTP2: Bool, fields: [HeaderField], retryAfterSeconds: Int64? = nil,
        origin: String = "", proxy: String? = nil
    ) {
        self.status = status
        self.finalURL = finalURL
        self.isHTTP2 = isHTTP2
        self.fields = fields
        self.retryAfterSeconds = retryAfterSeconds
        self.origin = origin
        self.proxy = proxy
    }

    /// The value of the first field of this name, names compared without case (RFC 9110, section 5.1).
    public func value(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The values of all fields of this name.
    func values(_ name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }
}

extension HeaderField {
    fileprivate func isNamed(_ name: String) -> Bool {
        guard self.name.utf8.count == name.utf8.count else { return false }
        // Most are written as the RFCs write them, and that is compared in one go.
        return self.name == name
            || self.name.utf8.elementsEqual(name.utf8, by: { $0.asciiLowercase == $1.asciiLowercase })
    }
}

extension UInt8 {
    var asciiLowercase: UInt8 { self >= 0x41 && self <= 0x5A ? self + 0x20 : self }
}
