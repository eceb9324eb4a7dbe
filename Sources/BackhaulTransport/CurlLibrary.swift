internal import BackhaulModel
internal import CCurl

/// libcurl as it was found at run time.
enum CurlLibrary {
    /// Initialises libcurl, once for the process, and says what is wrong with it. Never undone: the host may use it,
    /// too.
    static let problem: Failure? = {
        // Thread-safe initialisation, without which a host that initialises libcurl at this moment would race with us,
        // is as old as the newest option that we set (7.85).
        guard let version = bhl_version()?.pointee else {
            return Failure(.engineFailed, "libcurl does not tell its version; install libcurl 7.85 or newer")
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
}
