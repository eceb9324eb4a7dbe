internal import BackhaulModel
internal import CCurl

/// Explains why a TLS handshake failed. libcurl reports most reasons with one code and the message of OpenSSL.
enum TLSErrorDetail {
    /// Returns the explanation, and whether the same request may succeed later. If the failure has another cause than
    /// trust or a setting, returns nil.
    static func explain(_ report: FailureReport, server: String) -> (String, isTransient: Bool)? {
        switch report.code {
        case CURLE_PEER_FAILED_VERIFICATION:
            if report.verifyResult == 0, report.proxyVerifyResult != 0 {
                let proxy = "the proxy \(report.proxy ?? "")"
                return (certificate(report.proxyVerifyResult, report, of: proxy), report.isNotYetValid)
            }
            // The engine decides later whether the clock of the machine is right (`ClockWait`).
            return (certificate(report.verifyResult, report, of: server), report.isNotYetValid)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return ("the public key of \(server) is none of pinned_public_keys", false)
        case CURLE_SSL_CACERT_BADFILE:
            return ("ca_file \(report.caFile ?? "") cannot be read as certificates in PEM: \(report.reason)", false)
        case CURLE_SSL_CERTPROBLEM:
            return (ownCertificate(report), false)
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            return alert(report, of: server).map { ($0, false) }
        default:
            return nil
        }
    }

    private static func certificate(_ result: Int, _ report: FailureReport, of server: String) -> String {
        // The numbers are X509_V_ERR_… of openssl/x509_vfy.h. They are the same in all versions.
        switch result {
        case 9: "the certificate of \(server) is not valid yet; check whether the clock of this machine is right"
        case 10: "the certificate of \(server) has expired"
        case 18, 19:
            "the certificate of \(server) is signed by itself and by no trusted authority; name a file with ca_file"
        case 2, 20, 21:
            "the certificate of \(server) is from an issuer that is not trusted; name its authority with ca_file"
        case 23: "the certificate of \(server) was revoked"
        default:
            if report.reason.has("subject name") {
                "the certificate of \(server) is for another name: \(report.reason)"
            } else {
                "the certificate of \(server) does not verify: \(report.reason)"
            }
        }
    }

    private static func ownCertificate(_ report: FailureReport) -> String {
        let file = report.tls.clientCertificate ?? ""
        let key = report.tls.clientKey ?? file
        if report.reason.has("private key") {
            return "client_key \(key) cannot be used: \(report.reason)"
        }
        return "client_certificate \(file) cannot be used: \(report.reason)"
    }

    /// Explains the alert with which the server ended the handshake (RFC 8446, section 6.2). If the server does not use
    /// TLS, the explanation states this. In TLS 1.3, the alert about a client certificate arrives after the handshake.
    private static func alert(_ report: FailureReport, of server: String) -> String? {
        let reason = report.reason
        let has = { (texts: [String]) in texts.contains { reason.has($0) } }
        if has(["alert protocol version", "unsupported protocol", "no protocols available"]) {
            let minimum = report.tls.minimum == .tls13 ? "1.3" : "1.2"
            return "\(server) does not speak TLS \(minimum) or newer, as tls.minimum_version demands: \(reason)"
        }
        // After the handshake, these errors mean invalid records.
        if report.code == CURLE_SSL_CONNECT_ERROR,
            has(["wrong version number", "http request", "packet length too long"])
        {
            return "\(server) does not respond with TLS; is it an http server? \(reason)"
        }
        if has(["alert certificate required"]) {
            return "\(server) wants a client certificate; name its file with client_certificate"
        }
        if has(["alert handshake failure", "alert insufficient security"]) {
            let what = report.tls.clientCertificate == nil ? "wants a client certificate" : "refuses ours"
            return "\(server) ends the handshake; it speaks no cipher that we do, or it \(what) (client_certificate)"
        }
        let refusals = [
            "alert bad certificate", "alert unsupported certificate", "alert certificate revoked",
            "alert certificate expired", "alert certificate unknown", "alert unknown ca", "alert access denied",
        ]
        if report.tls.clientCertificate != nil, has(refusals) {
            return "\(server) does not accept the client certificate: \(reason)"
        }
        return nil
    }
}
