import CBackhaul

extension CommandError {
    /// Returns this error. If the library has refused to enqueue (store) one of the transfers, the message of the
    /// returned error has the URL of that transfer.
    func about(_ transfers: [Transfer]) -> CommandError {
        guard case .failure(let failure) = self, let index = failure.index, transfers.indices.contains(index) else {
            return self
        }
        let transfer = transfers[index]
        let address = URLArgument(transfer.url)
        if failure.is(BH_INVALID_ARGUMENT), let advice = address.advice {
            return .failure(failure.withMessage("\(address.redacted): \(advice)"))
        }
        if failure.is(BH_DESTINATION_EXISTS) && transfers.count > 1 {
            return .failure(
                failure.withMessage("\(address.redacted): \(failure.message); --skip-existing skips this one"))
        }
        guard !transfer.url.isEmpty else { return self }
        guard failure.is(BH_KEY_CONFLICT), let destination = transfer.destination else {
            return .failure(failure.withMessage("\(address.redacted): \(failure.message)"))
        }
        return .failure(
            failure.withMessage(
                "\(address.redacted): \(destination) is the file of another transfer of this session, "
                    + "with another URL or "
                    + "other options, that has not ended or whose end is not acknowledged; `backhaul wait` waits for "
                    + "it and acknowledges its end, and `backhaul cancel NUMBER` cancels it (`backhaul tasks` shows "
                    + "its number)"))
    }
}
