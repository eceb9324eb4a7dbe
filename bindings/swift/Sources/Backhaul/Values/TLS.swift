internal import CBackhaul

/// Version of TLS.
public enum TLSVersion: Int32, Hashable, Sendable {
    case tls1_2 = 12
    case tls1_3 = 13
}

/// Certificates that a session trusts, and its own. Nil stands for the default.
public struct TLS: Hashable, Sendable {
    /// Absolute path of PEM certificates in place of the system's.
    public var caFile: String?
    /// Absolute path of PEM: a certificate and its chain.
    public var clientCertificate: String?
    /// Absolute path of PEM. Default: in `clientCertificate`.
    public var clientKey: String?
    /// "sha256//BASE64;sha256//…": keys of the server (RFC 7469).
    public var pinnedPublicKeys: String?
    /// The oldest version. Default 1.2.
    public var minimumVersion: TLSVersion?

    public init() {}

    // Unsafe: pointers into a batch, which lives while its items are copied.
    init(_ value: bh_tls_settings) {
        caFile = text(value.ca_file)
        clientCertificate = text(value.client_certificate)
        clientKey = text(value.client_key)
        pinnedPublicKeys = text(value.pinned_public_keys)
        minimumVersion = TLSVersion(rawValue: value.minimum_version)
    }

    func value(_ arena: Arena) throws(BackhaulError) -> bh_tls_settings {
        var value = bh_tls_settings()
        value.ca_file = try arena.optionalString(caFile, "caFile")
        value.client_certificate = try arena.optionalString(clientCertificate, "clientCertificate")
        value.client_key = try arena.optionalString(clientKey, "clientKey")
        value.pinned_public_keys = try arena.optionalString(pinnedPublicKeys, "pinnedPublicKeys")
        value.minimum_version = minimumVersion?.rawValue ?? 0
        return value
    }
}
