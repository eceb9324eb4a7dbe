internal import BackhaulModel

/// The certificates for the connections of one request.
struct CertificateSet: Hashable {
    var authorities: Certificates?
    var certificate: Certificates?
    var key: Certificates?
}

/// Reads the certificates of a request before libcurl gets the request.
extension Transport {
    /// Returns the certificates for the transfer. If a file must be read first, returns nil, and `begin` is called
    /// again after the read.
    func certificates(for transfer: Transfer, _ route: ProxyRoute?) throws(Failure) -> CertificateSet? {
        var set = CertificateSet()
        let isEncrypted = transfer.origin.scheme == "https" || route?.isEncrypted == true
        guard isEncrypted, CurlLibrary.authorities != nil else { return set }
        let request = transfer.request
        if let path = request.caFile ?? CurlLibrary.systemAuthorities {
            let kind: CertificateFile.Kind = request.caFile == nil ? .systemAuthorities : .authorities
            guard let found = try obtain(kind, path, transfer) else { return nil }
            set.authorities = found
        }
        guard let path = request.tls.clientCertificate else { return set }
        guard let certificate = try obtain(.certificate, path, transfer) else { return nil }
        guard let key = try obtain(.key, request.tls.clientKey ?? path, transfer) else { return nil }
        (set.certificate, set.key) = (certificate, key)
        return set
    }

    private func obtain(
        _ kind: CertificateFile.Kind, _ path: String, _ transfer: Transfer
    ) throws(Failure) -> Certificates? {
        let file = CertificateFile(kind: kind, path: path)
        let id = ObjectIdentifier(transfer)
        let time = transfer.certificatesNeeded(at: now)
        let found = try certificateLoader.obtain(file, since: time) { [weak self, weak transfer] failure in
            guard let self, let transfer, active[id] === transfer, !transfer.isOver else { return }
            transfer.waits(for: nil)
            guard let failure else { return begin(transfer) }
            end(transfer, .failed(failure, isTransient: failure.status == .outOfResources))
        }
        transfer.waits(for: found == nil ? file : nil)
        return found
    }
}
