public import BackhaulModel

/// Finds the server and the credentials of a request for an object of S3 before libcurl gets the request, and signs it.
extension Transport {
    /// Returns false if the credentials are not here yet. Then `begin` is called again.
    func prepareS3(_ transfer: Transfer) throws(Failure) -> Bool {
        guard let request = transfer.unpreparedS3 else { return true }
        let id = ObjectIdentifier(transfer)
        var isHere = false
        var failure: Failure?
        var mustBegin = false
        try s3.obtain(request.settings) { [weak self, weak transfer] found in
            guard let self, let transfer, active[id] === transfer, !transfer.isOver else { return }
            do throws(Failure) {
                try use(found.get(), transfer)
                isHere = true
                if mustBegin { beginWhenPossible(transfer) }
            } catch {
                failure = error
                // The files or a command may have credentials later.
                if mustBegin { end(transfer, .failed(error, isTransient: true, FailureContext(isLocal: true))) }
            }
        }
        if let failure { throw failure }
        mustBegin = !isHere
        return isHere
    }

    private func use(_ found: (settings: S3Settings, credentials: S3Credentials), _ transfer: Transfer) throws(Failure)
    {
        let object = try transfer.object
        var settings = found.settings
        if let region = s3.region(of: object.bucket, at: settings.endpoint) { settings.region = region }
        let location = try S3Location(object, settings)
        try transfer.use(
            S3Access(endpoint: settings.endpoint, location: location, credentials: found.credentials),
            URLParser.origin(of: location.url))
    }

    /// Makes the next request of S3 with these settings fetch new credentials.
    public func expireS3Credentials(_ settings: S3Settings) { s3.expire(settings) }
}
