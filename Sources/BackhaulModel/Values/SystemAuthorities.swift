/// The files in which distributions of Linux keep the certificates of the authorities that the system trusts.
public enum SystemAuthorities {
    /// Debian, Alpine, Arch and Gentoo; Fedora and Red Hat; openSUSE; Void, and Alpine's older name.
    public static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]
}
