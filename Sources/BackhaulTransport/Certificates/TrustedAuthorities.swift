internal import BackhaulModel
internal import CCurl

/// The certificate authorities of one file. They are parsed one time for all connections that use the file.
///
/// Unchecked: OpenSSL counts the references to its store, and protects the store with a mutex. The pointers in
/// `functions` stay valid, because OpenSSL's functions are never unloaded.
final class TrustedAuthorities: @unchecked Sendable {
    private let store: UnsafeMutableRawPointer
    private let functions: bhl_authorities

    init(pem: [UInt8], _ file: CertificateFile) throws(Failure) {
        guard var functions = CurlLibrary.authorities else {
            throw Failure(.tlsFailed, "OpenSSL lacks a function that \(file) needs")
        }
        var count: Int32 = 0
        let made = pem.withUnsafeBytes {
            bhl_authorities_make(&functions, $0.baseAddress, Int32(clamping: $0.count), &count)
        }
        guard let made else {
            let what = count == 0 ? "it has none" : "the one behind the first \(count) is damaged"
            throw Failure(.tlsFailed, "\(file) cannot be read as certificates in PEM: \(what)")
        }
        (store, self.functions) = (made, functions)
    }

    deinit { functions.free_store(store) }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    fileprivate func use(in context: UnsafeMutableRawPointer) { functions.use(context, store) }
}

/// Sets the store of `TrustedAuthorities` in the TLS context, in place of the store that libcurl has made.
let useAuthorities: curl_ssl_ctx_callback = { _, context, receiver in
    guard let context, let receiver else { return CURLE_OK }
    Unmanaged<TrustedAuthorities>.fromOpaque(receiver).takeUnretainedValue().use(in: context)
    return CURLE_OK
}
