internal import BackhaulModel
internal import CCurl

/// One of libcurl's easy handles, with the memory to which it points. A handle is used for many requests. Options that
/// are the same for all requests are set only at the start.
///
/// Unsafe: the handle, its list of headers and its error text live until `deinit`. libcurl uses them and its pointer to
/// this object only while the handle is in a `MultiHandle`.
final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    let sockets: SocketTable
    let reasonText: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var proxyHeaders: UnsafeMutablePointer<curl_slist>?
    /// The owner (the credential and the server) of the Digest nonces that libcurl keeps in the handle and sends with
    /// the next request.
    private(set) var nonceOwner: String?
    /// Whether the handle must not be used for another request.
    private(set) var isSpent = false
    private var jar: CookieJar?
    /// The numeric address for which the request has last opened a socket, or an empty string.
    var triedAddress = ""
    /// Whether the request makes no connection to a private address.
    private(set) var refusesPrivateAddresses = false
    /// The private address for which the request has last opened no socket; nil if there was none.
    var refusedAddress: String?

    init(_ sockets: SocketTable, _ identity: ConnectionIdentity) throws(Failure) {
        guard let handle = curl_easy_init() else { throw Failure(.outOfResources, "no memory is left for a transfer") }
        self.handle = handle
        self.sockets = sockets
        reasonText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        reasonText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        setConstants()
        try set(identity)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        curl_slist_free_all(proxyHeaders)
        reasonText.deallocate()
    }

    /// Sets the options of one request. `receiver` is passed to the call-backs; its object must live while libcurl uses
    /// the handle.
    func prepare(
        url: String, version: HTTPVersion, isEncrypted: Bool, timeoutMilliseconds: UInt32, bypassesDNSCache: Bool,
        refusesPrivateAddresses: Bool, needsNewConnection: Bool, headers lines: [String], credentials: HopCredentials,
        nonceOwner: String? = nil,
        receiver: UnsafeMutableRawPointer
    ) throws(Failure) {
        bhl_easy_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
        reasonText[0] = 0
        triedAddress = ""
        self.refusesPrivateAddresses = refusesPrivateAddresses
        refusedAddress = nil
        if let nonceOwner { self.nonceOwner = nonceOwner }
        let list = try Self.list(of: lines)
        bhl_easy_set_headers(handle, list)
        curl_slist_free_all(headers)
        headers = list
        try set(credentials)
        try set(CURLOPT_URL, url)
        bhl_easy_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(timeoutMilliseconds))
        // The time is in seconds. libcurl also caches addresses that do not respond.
        bhl_easy_set_long(handle, CURLOPT_DNS_CACHE_TIMEOUT, bypassesDNSCache ? 0 : 60)
        // If the first of several addresses does not respond, libcurl spends half of the time-out on that address. A
        // request bypasses the cache if its task had an attempt before. Such a request tries the addresses in a random
        // order, so that a silent address is not always the first.
        bhl_easy_set_long(handle, CURLOPT_DNS_SHUFFLE_ADDRESSES, bypassesDNSCache ? 1 : 0)
        for option in [
            CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PRIVATE, CURLOPT_PREREQDATA, CURLOPT_XFERINFODATA,
        ] {
            bhl_easy_set_pointer(handle, option, receiver)
        }
        bhl_easy_set_long(handle, CURLOPT_FRESH_CONNECT, needsNewConnection ? 1 : 0)
        set(credentials.belongsToConnection ? .http1 : version, isEncrypted: isEncrypted)
        bhl_easy_set_long(handle, CURLOPT_VERBOSE, 0)
        bhl_easy_set_long(handle, CURLOPT_NOPROGRESS, 1)
    }

    /// Whether the request must not use a connection to the address. Records the refused address.
    /// - text: an address as made by inet_ntop(3). Any other text is refused.
    func refuses(_ text: String) -> Bool {
        guard refusesPrivateAddresses, NetworkAddress(text)?.isPrivate ?? true else { return false }
        refusedAddress = text
        return true
    }

    // MARK: - While the request has a connection

    /// Makes libcurl close the connection at the end of the request.
    func forbidReuse() { bhl_easy_set_long(handle, CURLOPT_FORBID_REUSE, 1) }

    /// Makes libcurl call `Transfer.takeProgress` repeatedly. The last call is after the end of the body.
    func watchProgress() { bhl_easy_set_long(handle, CURLOPT_NOPROGRESS, 0) }

    /// Sets the credentials of a request. Clears those of an earlier request.
    private func set(_ credentials: HopCredentials) throws(Failure) {
        let list = try Self.list(of: credentials.proxyLines)
        bhl_easy_set_proxy_headers(handle, list)
        curl_slist_free_all(proxyHeaders)
        proxyHeaders = list
        try set(CURLOPT_USERNAME, credentials.user)
        try set(CURLOPT_PASSWORD, credentials.password)
        try set(CURLOPT_PROXYUSERNAME, credentials.proxyUser)
        try set(CURLOPT_PROXYPASSWORD, credentials.proxyPassword)
        bhl_easy_set_long(handle, CURLOPT_HTTPAUTH, Self.bits(credentials.scheme))
        bhl_easy_set_long(handle, CURLOPT_PROXYAUTH, Self.bits(credentials.proxyScheme))
        bhl_easy_set_long(handle, CURLOPT_FORBID_REUSE, credentials.belongsToConnection ? 1 : 0)
    }

    /// Records a 401 response. Even without a credential, libcurl stores the Digest nonce of this response, and would
    /// send the nonce to any other server. So a handle without a nonce owner is not used again.
    func noteChallenge() { if nonceOwner == nil { isSpent = true } }

    /// - own: the value of the request's own Cookie field. libcurl merges this value with the cookies of the session's
    ///   jar, because a request may have only one Cookie field (RFC 6265, section 5.4).
    func prepare(_ jar: CookieJar?, own: String?) throws(Failure) {
        if jar !== self.jar {
            bhl_easy_set_share(handle, jar?.share)
            self.jar = jar
            // With an empty file name, libcurl stores cookies but reads no file. Without this option, libcurl stores no
            // cookies, not even in a shared jar.
            try set(CURLOPT_COOKIEFILE, jar == nil ? nil : "")
        }
        try set(CURLOPT_COOKIE, own)
    }

    /// Removes all secrets from an unused handle.
    func forgetCredentials() {
        try? prepare(nil, own: nil)
        bhl_easy_set_headers(handle, nil)
        curl_slist_free_all(headers)
        headers = nil
        try? set(HopCredentials())
    }

    private static func bits(_ schemes: AuthenticationSchemes) -> Int {
        let all: [(AuthenticationSchemes, Int32)] = [
            (.basic, Int32(bhl_basic_authentication)), (.digest, Int32(bhl_digest_authentication)),
        ]
        return all.reduce(0) { schemes.contains($1.0) ? $0 | Int($1.1) : $0 }
    }

    /// Makes a list of header lines. Throws if a line has a control character: libcurl sends each line as it is, so a
    /// line end would add lines. All fields come through this function, also validators, credentials and signatures.
    private static func list(of lines: [String]) throws(Failure) -> UnsafeMutablePointer<curl_slist>? {
        guard lines.allSatisfy({ $0.utf8.allSatisfy(\.isFieldText) }) else {
            throw Failure(.invalidArgument, "a header line of the request has a control character")
        }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                curl_slist_free_all(list)
                throw Failure(.outOfResources, "no memory is left for a transfer")
            }
            list = longer
        }
        return list
    }

    private func setConstants() {
        bhl_easy_set_receiver(handle, CURLOPT_WRITEFUNCTION, receiveBody)
        bhl_easy_set_receiver(handle, CURLOPT_HEADERFUNCTION, receiveHeader)
        bhl_easy_set_before_request(handle, beforeRequest)
        bhl_easy_set_debug(handle, noticeExcess)
        bhl_easy_set_progress(handle, progressed)
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        bhl_easy_set_resolver_start(handle, startResolver, pointer)
        bhl_easy_set_open_socket(handle, openSocket, pointer)
        bhl_easy_set_close_socket(handle, closeSocket, sockets.pointer)
        bhl_easy_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        bhl_easy_set_string(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        bhl_easy_set_string(handle, CURLOPT_USERAGENT, "Backhaul/\(Versions.current.libraryText)")
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            // Without this option, the end of a transfer waits for a name server that does not respond.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_FOLLOWLOCATION, 0),
            // The headers of a response to CONNECT contain the challenge of a proxy.
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 0),
            (CURLOPT_HEADEROPT, Int(bhl_headers_separate)),
            // The largest number of bytes of one read. A buffer of twice this size is not faster. With a quarter of
            // this size, large files need two thirds more processor time.
            (CURLOPT_BUFFERSIZE, 256 * 1024),
            // The largest number of bytes of one write of a request body. The default is a quarter of this size.
            (CURLOPT_UPLOAD_BUFFERSIZE, 256 * 1024),
            (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_TCP_KEEPALIVE, 1),
            (CURLOPT_NOPROGRESS, 1),
        ]
        for (option, value) in numbers { bhl_easy_set_long(handle, option, value) }
    }

    /// The errno of the last failed attempt to connect, or 0.
    var systemError: Int32 {
        var code = 0
        bhl_easy_get_long(handle, CURLINFO_OS_ERRNO, &code)
        return Int32(clamping: code)
    }

    /// libcurl's message about the failure of the last request, or an empty string. It may contain text from the
    /// server.
    var reason: String {
        var scalars = String(cString: reasonText).unicodeScalars
        scalars.removeAll { $0.properties.generalCategory == .control }
        return String(String(scalars).reversed().drop { $0 == "." || $0.isWhitespace }.reversed())
    }
}

private let receiveBody: curl_write_callback = { data, size, count, receiver in
    guard let data, let receiver else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.take(body: UnsafeRawBufferPointer(start: data, count: size &* count))
}

private let receiveHeader: curl_write_callback = { data, size, count, receiver in
    guard let data, let receiver else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.take(header: UnsafeRawBufferPointer(start: data, count: size &* count))
}

private let beforeRequest: curl_prereq_callback = { receiver, remote, local, remotePort, localPort in
    guard let receiver else { return CURL_PREREQFUNC_ABORT }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    let endpoints = ConnectionEndpoints(
        ports: PortPair(local: UInt16(clamping: localPort), remote: UInt16(clamping: remotePort)),
        local: local.map { String(cString: $0) } ?? "", remote: remote.map { String(cString: $0) } ?? "")
    return transfer.requestBegins(over: endpoints) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Receives libcurl's progress calls. The last call comes before libcurl closes the connection.
private let progressed: curl_xferinfo_callback = { receiver, _, downloaded, _, _ in
    guard let receiver else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
    return transfer.takeProgress(downloaded: Int64(downloaded)) ? 0 : 1
}

private let closeSocket: curl_closesocket_callback = { table, number in
    guard let table else { return 1 }
    Unmanaged<SocketTable>.fromOpaque(table).takeUnretainedValue().close(number)
    return 0
}
