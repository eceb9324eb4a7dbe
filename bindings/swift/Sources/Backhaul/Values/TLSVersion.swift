/// A version of TLS.
public enum TLSVersion: Int32, Hashable, Sendable {
    case tls1_2 = 12
    case tls1_3 = 13
}
