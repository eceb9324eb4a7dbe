public import BackhaulModel
internal import BackhaulPlatform

/// Finds the server and the credentials of a request for an object of S3 before libcurl gets the request, and signs it.
extension Transport {
    /// Returns false if the credentials are not here yet. Then `begin` is called again.
    func prepareS3(_ transfer: Transfer) throws(Failure) -> Bool {
        guard let request = transfer.request.s3, transfer.exchange.s3 == nil else { return true }
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

    private func use(_ found: (settings: S3Settings, credentials: S3Credentials), _ transfer: Transfer) throws(Failure) {
        let object = try S3Object(transfer.request.url)
        var settings = found.settings
        if let region = s3.region(of: object.bucket) { settings.region = region }
        let location = try S3Location(object, settings)
        try transfer.use(
            S3Access(location: location, credentials: found.credentials), URLParser.origin(of: location.url))
    }

    /// Makes the next request of S3 with these settings fetch new credentials.
    public func expireS3Credentials(_ settings: S3Settings) { s3.expire(settings) }
}

extension Transfer {
    func use(_ access: S3Access, _ origin: Origin) {
        exchange.s3 = access
        move(to: access.location.url, origin)
        secrets.add(.credential(user: access.credentials.accessKey, password: access.credentials.secretKey))
        if let token = access.credentials.sessionToken {
            secrets.add(.headers([HeaderField("x-amz-security-token", token)]))
        }
    }

    /// Notes the region of a bucket, if a response names another one than the request. Returns whether the request is
    /// sent again.
    func noteRegion() -> Bool {
        guard let access = exchange.s3, [301, 307, 400, 403, 404].contains(exchange.head.status),
            let region = exchange.head.fields.first(where: { $0.isNamed("x-amz-bucket-region") })?.text,
            region != access.location.region, S3Settings.isRegion(region),
            let object = try? S3Object(request.url), startsAgain(for: .otherRegion)
        else { return false }
        transport?.s3.note(region: region, of: object.bucket)
        wasNotProcessed()
        return true
    }

    /// The lines that sign the request; empty if it is not for an object of S3.
    func signatureLines(_ headers: [HeaderField]) throws(Failure) -> [String] {
        guard let access = exchange.s3, let request = request.s3, let hash = transport?.sha256 else { return [] }
        let signature = RequestSignature(access.credentials, region: access.location.region, hash: hash)
        let fields = try signature.fields(
            method: outgoing.method, access.location, headers: headers, payload: request.payload,
            seconds: Clock.wallMilliseconds / 1_000)
        return fields.map { "\($0.name): \($0.value)" }
    }
}
