import Testing

@testable import backhaul

@Suite("Variables for certificates")
struct CertificateVariablesTests {
    private static let system = "/etc/ssl/certs/ca-certificates.crt"

    @Test(
        "curl's variables name a file, unless it has the system's certificates",
        arguments: [
            ([:], nil), (["SSL_CERT_FILE": "/a"], "SSL_CERT_FILE=/a"), (["CURL_CA_BUNDLE": "b"], "CURL_CA_BUNDLE=b"),
            (["SSL_CERT_FILE": "/a", "CURL_CA_BUNDLE": "/b"], "CURL_CA_BUNDLE=/b"),
            (["SSL_CERT_FILE": "/a", "CURL_CA_BUNDLE": ""], "SSL_CERT_FILE=/a"), (["SSL_CERT_FILE": ""], nil),
            (["SSL_CERT_FILE": system], nil), (["SSL_CERT_FILE": "/a", "CURL_CA_BUNDLE": system], nil),
            (["SSL_CERT_DIR": "/c"], nil),
        ])
    func chosen(variables: [String: String], expected: String?) {
        let found = CertificateVariables({ variables[$0] }, isSystems: { $0 == Self.system })
        #expect(found.map { "\($0.name)=\($0.file)" } == expected)
    }
}
