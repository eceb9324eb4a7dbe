internal import BackhaulModel
internal import CCurl

/// Translates libcurl's result codes into the status and message that the host gets.
enum TransferFailure {
    struct Classification: Equatable {
        var status: Status
        /// Whether the same request may succeed later.
        var isTransient: Bool
        init(_ status: Status, transient: Bool) {
            self.status = status
            isTransient = transient
        }
    }

    /// Returns the meaning of libcurl's result code.
    /// - headIsWhole: whether the whole head of the final response has arrived.
    /// - hasReceived: whether a part of a response has arrived. If so, the code is about the response.
    static func classification(_ report: FailureReport, headIsWhole: Bool, hasReceived: Bool) -> Classification {
        if report.hasStreamError { return Classification(.badResponse, transient: true) }
        if report.isViolation { return Classification(.badResponse, transient: false) }
        if report.hasLongLine, !headIsWhole { return Classification(.badResponse, transient: false) }
        if report.hasNoMemoryForHTTP2 { return Classification(.outOfResources, transient: true) }
        return switch report.code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            Classification(.nameNotResolved, transient: true)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE, CURLE_PROXY:
            Classification(.connectionFailed, transient: true)
        case CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_AGAIN,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR,
            CURLE_UNRECOVERABLE_POLL:
            Classification(.connectionLost, transient: true)
        case CURLE_OPERATION_TIMEDOUT:
            Classification(.requestTimeout, transient: true)
        case CURLE_SSL_CONNECT_ERROR:
            // libcurl uses this code for two failures: the handshake was interrupted, or the two sides have no
            // parameters in common.
            Classification(.tlsFailed, transient: true)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
            Classification(.tlsFailed, transient: false)
        case CURLE_TOO_MANY_REDIRECTS:
            Classification(.redirectRefused, transient: false)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_UNSUPPORTED_PROTOCOL, CURLE_FILESIZE_EXCEEDED:
            // The scheme of the request's URL was checked before, so UNSUPPORTED_PROTOCOL means that the response is
            // not HTTP.
            Classification(.badResponse, transient: false)
        case CURLE_OUT_OF_MEMORY:
            Classification(.outOfResources, transient: true)
        case CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION, CURLE_BAD_FUNCTION_ARGUMENT,
            CURLE_URL_MALFORMAT, CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK, CURLE_READ_ERROR:
            // libcurl reports WRITE_ERROR and BAD_FUNCTION_ARGUMENT for header fields that it cannot read.
            // Without a response, these codes mean a defect in this library.
            hasReceived ? Classification(.badResponse, transient: false) : Classification(.internal, transient: false)
        default:
            // The code is from a newer libcurl. A broken connection is its most likely meaning.
            Classification(.connectionLost, transient: true)
        }
    }

    /// Returns the failure that the host gets, and whether the same request may succeed later.
    static func failure(
        _ report: FailureReport, server: String, headIsWhole: Bool, hasReceived: Bool
    ) -> (Failure, Bool) {
        if let refusal = report.tunnelRefusal(server: server) { return refusal }
        let code = report.code
        let respondent = report.respondent ?? server
        let detail = Int64(code.rawValue)
        if let (message, isTransient) = TLSErrorDetail.explain(report, server: respondent) {
            return (Failure(.tlsFailed, message, domain: .curl, detail: detail), isTransient)
        }
        let classification = classification(report, headIsWhole: headIsWhole, hasReceived: hasReceived)
        let clause = clause(classification.status, report.refused ?? respondent)
        let sentence = "\(clause): \(words(classification.status, report))"
        let failure = Failure(classification.status, sentence, domain: .curl, detail: detail)
        return (failure, classification.isTransient)
    }

    /// Returns the failure for a body whose TLS connection ended without close_notify (RFC 9112, section 9.8).
    static func truncated(_ server: String) -> Failure {
        Failure(
            .tlsTruncated,
            "\(server) ended the TLS connection without close_notify, so the body may have been cut; if it always does "
                + "that, set tolerances to BH_TOLERATE_MISSING_CLOSE_NOTIFY")
    }

    /// Returns the failure for a server to whose address no connection may be made.
    static func refused(_ address: String, of server: String) -> Failure {
        Failure(
            .addressRefused,
            "\(server) has the private address \(address), which refuses_private_addresses excludes")
    }

    static func unmarkedEnd(_ server: String) -> Failure {
        Failure(
            .connectionLost,
            "the connection to \(server) ended before HTTP/2 marked the end of the response; the next request goes "
                + "over HTTP/1.1")
    }

    private static func words(_ status: Status, _ report: FailureReport) -> String {
        switch report.code {
        // libcurl tried to send the body again, but `refuseToRewind` did not permit this.
        case CURLE_HTTP2_STREAM where report.reason.isEmpty: "it ended the stream before it had the whole request"
        case _ where report.hasInvalidRecord: "bytes arrived that are no valid TLS record: \(report.reason)"
        case CURLE_GOT_NOTHING where report.hasEndedHTTP2: "frames that HTTP/2 does not allow before the response"
        case CURLE_SEND_FAIL_REWIND: "it ended before the response, and the server may have acted on the request"
        case _ where status == .badResponse && report.hasLongLine: "a header line has more than 100 KiB"
        case CURLE_OUT_OF_MEMORY: "there is no memory left"
        case CURLE_WRITE_ERROR, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_FAILED_INIT, CURLE_URL_MALFORMAT:
            "a header line cannot be read"
        default: report.reason.isEmpty ? String(cString: curl_easy_strerror(report.code)) : report.reason
        }
    }

    private static func clause(_ status: Status, _ server: String) -> String {
        switch status {
        case .nameNotResolved: "the name of \(server) cannot be resolved"
        case .connectionFailed: "no connection to \(server) can be made"
        case .connectionLost: "the connection to \(server) broke"
        case .requestTimeout: "\(server) did not respond in time"
        case .tlsFailed: "no trusted TLS connection to \(server) can be made"
        case .badResponse: "the response of \(server) breaks the rules of HTTP"
        case .redirectRefused: "\(server) redirects too often"
        default: "the transfer from \(server) failed"
        }
    }
}
