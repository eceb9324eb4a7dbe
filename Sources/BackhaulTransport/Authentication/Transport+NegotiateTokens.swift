internal import BackhaulModel

/// Fetches the Negotiate tokens of a request before libcurl gets the request.
extension Transport {
    func fetchNegotiateTokens(
        _ transfer: Transfer, _ credentials: HopCredentials, _ route: ProxyRoute?
    ) throws(Failure) {
        let server = credentials.needsToken ? transfer.origin.server : nil
        let proxy =
            credentials.needsProxyToken
            ? try route.map { route throws(Failure) in
                try URLParser.origin(of: route.url).server
            } : nil
        try fetch(server, transfer) { [weak self] transfer, token in
            do throws(Failure) {
                try self?.fetch(proxy, transfer) { transfer, proxyToken in
                    transfer.use(NegotiateTokens(server: token, proxy: proxyToken))
                    self?.begin(transfer)
                }
            } catch {
                self?.end(transfer, .failed(error, isTransient: true))
            }
        }
    }

    /// Calls `then` with a token. If `server` is nil, calls `then` immediately with nil. If no token can be made, ends
    /// the transfer.
    private func fetch(
        _ server: String?, _ transfer: Transfer, then: @escaping (Transfer, String?) -> Void
    ) throws(Failure) {
        guard let server else { return then(transfer, nil) }
        let id = ObjectIdentifier(transfer)
        try tokenProvider.obtain(for: server) { [weak self, weak transfer] token in
            guard let self, let transfer, active[id] === transfer, !transfer.isOver else { return }
            switch token {
            case .success(let token): then(transfer, token)
            case .failure(let failure): end(transfer, .failed(failure, isTransient: false))
            }
        }
    }
}
