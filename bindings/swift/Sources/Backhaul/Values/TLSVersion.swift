/// A version of TLS.
public enum TLSVersion: Int32, Hashable, Sendable {
    /// TLS 1.2 (RFC 5246).
    case tls1_2 = 12
    /// TLS 1.3 (RFC 8446).
    case tls1_3 = 13
}
