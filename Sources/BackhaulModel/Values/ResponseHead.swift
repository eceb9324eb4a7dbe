/// The status and the header of the last response of an attempt (one run of an upload or download). Redirects and
/// interim responses do not count.
public struct ResponseHead: Equatable, Sendable {
    public var status: Int32
    /// The URL that sent the response.
    public var finalURL: String
    /// Whether the response came over HTTP/2, on a connection that other requests to the origin can share.
    public var isMultiplexed: Bool
    /// The fields in order of arrival, with the names as sent. The transport, which receives responses, bounds their
    /// number and size.
    public var fields: [ResponseField]
    /// The delay that Retry-After demands, in seconds; nil if the response does not have the field, and 0 if the field
    /// demands no delay. The field may have either of its two forms (RFC 9110, section 10.2.3).
    public var retryAfterSeconds: Int64?
    /// The origin of the server that responded, such as "https://example.org:443".
    public var origin: String
    /// The origin of the HTTP proxy on the route to the server; nil if there is none.
    public var proxy: String?

    public init(
        status: Int32, finalURL: String, isMultiplexed: Bool, fields: [ResponseField], retryAfterSeconds: Int64? = nil,
        origin: String = "", proxy: String? = nil
    ) {
        self.status = status
        self.finalURL = finalURL
        self.isMultiplexed = isMultiplexed
        self.fields = fields
        self.retryAfterSeconds = retryAfterSeconds
        self.origin = origin
        self.proxy = proxy
    }

    /// Whether other requests to the origin can share the connection of the response; nil if another origin has sent
    /// the response, after a redirect, or a proxy.
    public func sharesConnection(to origin: Origin) -> Bool? {
        self.origin == origin.text && status != 407 ? isMultiplexed : nil
    }

    /// Whether the status is 2xx: the server has received, understood and accepted the request (RFC 9110, section
    /// 15.3).
    var isSuccess: Bool { (200..<300).contains(status) }

    /// The value of the first field of this name. Names are compared without case (RFC 9110, section 5.1).
    public func bytes(_ name: String) -> [UInt8]? { fields.first { $0.isNamed(name) }?.value }

    /// The value of the first field of this name, for interpretation; nil if there is none or if the value is not text.
    public func value(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.text }

    /// The value of the first field of this name, for storage and display.
    public func plainText(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.plainText }

    /// The values of all fields of this name.
    public func allBytes(_ name: String) -> [[UInt8]] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// The values of all fields of this name, as text without invalid bytes.
    func texts(_ name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.plainText) }

    /// Whether fields of this name have different values. If so, and only one field of this name is allowed, none of
    /// the values is used.
    public func isContradictory(_ name: String) -> Bool {
        let values = fields.lazy.filter { $0.isNamed(name) }.map(\.value)
        guard let first = values.first else { return false }
        return values.contains { $0 != first }
    }
}

/// A field of a response. Its value consists of bytes. In a text, invalid bytes would be replaced, and two different
/// values could become equal.
public struct ResponseField: Equatable, Sendable {
    public var name: String
    /// The value without the white space around it.
    public var value: [UInt8]

    public init(_ name: String, _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    public init(_ name: String, _ text: String) { self.init(name, Array(text.utf8)) }

    /// The value as text; nil if it has bytes that are not UTF-8, or control characters (RFC 9110, section 5.5).
    public var text: String? {
        isClean ? String(validating: value, as: UTF8.self) : nil
    }

    /// The value without control characters, and with U+FFFD in place of bytes that are not UTF-8.
    public var plainText: String {
        isClean
            ? String(decoding: value, as: UTF8.self)
            : String(decoding: value.filter(\.isFieldText), as: UTF8.self)
    }

    private var isClean: Bool { value.allSatisfy(\.isFieldText) }

    public func isNamed(_ name: String) -> Bool {
        guard self.name.utf8.count == name.utf8.count else { return false }
        // Most names are spelled as in the RFCs, so a fast comparison comes first.
        return self.name == name
            || self.name.utf8.elementsEqual(name.utf8, by: { $0.asciiLowercase == $1.asciiLowercase })
    }
}
