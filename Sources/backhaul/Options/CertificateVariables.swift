import BackhaulModel
import Glibc

/// The environment variables that name a file of trusted certificates, with the meaning that they have for curl(1). The
/// library does not read them.
struct CertificateVariables {
    /// The name of the variable.
    let name: String
    let file: String

    /// Returns the variable that counts. Nil if none is set, or if it names the system's certificates.
    init?(
        _ variable: (String) -> String? = environment,
        isSystems: (String) -> Bool = CertificateVariables.isSystems
    ) {
        let given = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap { name in variable(name).map { (name, $0) } }
        guard let (name, file) = given.first(where: { !$0.1.isEmpty }), !isSystems(file) else { return nil }
        (self.name, self.file) = (name, file)
    }

    private static func isSystems(_ file: String) -> Bool {
        let path = resolved(file)
        return SystemAuthorities.files.contains { $0 == file || path != nil && resolved($0) == path }
    }

    private static func resolved(_ file: String) -> String? {
        guard let path = realpath(file, nil) else { return nil }
        // Unsafe: realpath(3) has allocated the string, which is copied before it is freed.
        defer { free(path) }
        return String(cString: path)
    }
}
