internal import BackhaulModel
internal import CCurl
internal import CLinux
internal import Glibc

/// Facts about the libcurl that was found at run time.
enum CurlLibrary {
    /// Why this libcurl cannot be used; nil if it can be used. The first use of this property initialises libcurl for
    /// the process. The initialisation is never undone, because the host may use libcurl, too.
    static let problem: Failure? = {
        // The initialisation must be thread-safe, because the host may initialise libcurl at the same time. Version
        // 7.85 is required because it is the first version with all options that Backhaul sets.
        guard let version = bhl_version()?.pointee else {
            return Failure(.engineFailed, "libcurl does not report its version; install libcurl 7.85 or newer")
        }
        let name = String(cString: version.version)
        guard version.version_num >= 0x075500, version.features & CURL_VERSION_THREADSAFE != 0 else {
            return Failure(
                .engineFailed, "libcurl \(name) is too old or not built thread-safe; install libcurl 7.85 or newer")
        }
        guard version.features & CURL_VERSION_SSL != 0 else {
            return Failure(.engineFailed, "libcurl \(name) is built without TLS; install one with it")
        }
        let result = bhl_global_init()
        guard result == CURLE_OK else {
            return Failure(
                .engineFailed, "libcurl \(name) cannot start: \(String(cString: curl_easy_strerror(result)))",
                domain: .curl, detail: Int64(result.rawValue))
        }
        return nil
    }()

    /// The version, with one byte each for the major and the minor number and the patch. 0 if it is not known.
    static let version = bhl_version()?.pointee.version_num ?? 0

    /// The functions of OpenSSL, or nil if libcurl uses another TLS library.
    static let openSSL: bhl_tls? = {
        var functions = bhl_tls()
        return withOpenSSL.flatMap { bhl_tls_load(&functions, $0) == 1 ? functions : nil }
    }()

    /// OpenSSL's functions for certificate authorities, or nil if libcurl uses another TLS library. If the value is
    /// nil, libcurl reads the files of certificates itself.
    static let authorities: bhl_authorities? = {
        var functions = bhl_authorities()
        return withOpenSSL.flatMap { bhl_authorities_load(&functions, $0) == 1 ? functions : nil }
    }()

    /// The path of the file with the authorities that the system trusts. This build of libcurl has a path of the file.
    /// If there is no file, because libcurl was built for another distribution, the path of this distribution is used.
    static let systemAuthorities: String? = {
        guard let handle = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(handle) }
        // Unsafe: libcurl owns the text, which is copied.
        var path: UnsafePointer<CChar>?
        guard bhl_easy_get_string(handle, CURLINFO_CAINFO, &path) == CURLE_OK, let path else { return nil }
        let file = String(cString: path)
        return ([file] + SystemAuthorities.files).first { access($0, R_OK) == 0 } ?? file
    }()

    /// Unsafe: the handle of libcurl, which stays loaded as long as this code. Nil if libcurl does not use OpenSSL.
    nonisolated(unsafe) private static let withOpenSSL: UnsafeMutableRawPointer? = {
        guard let text = bhl_version()?.pointee.ssl_version else { return nil }
        // The text is, for example, "OpenSSL/3.0.22".
        return String(cString: text).hasPrefix("OpenSSL/") ? bhl_library_with(bhl_curl_address()) : nil
    }()
}
