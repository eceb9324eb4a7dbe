import Backhaul
import Glibc

extension CommandError {
    /// Returns this error. If the library has refused to enqueue one of the transfers, the message of the returned
    /// error has the URL of that transfer.
    func about(_ transfers: [Transfer]) -> CommandError {
        guard case .failure(let failure) = self, let index = failure.index, transfers.indices.contains(index) else {
            return self
        }
        let transfer = transfers[index]
        let address = URLArgument(transfer.url)
        let reason: String
        if failure.status == .invalidArgument, let advice = address.advice {
            reason = advice
        } else if failure.status == .destinationExists && transfers.count > 1 {
            reason = "\(failure.message); --skip-existing skips this one"
        } else if failure.status == .destinationUnavailable && failure.detail == ENOENT {
            reason = "\(failure.message); --create-dirs creates it"
        } else if transfer.url.isEmpty {
            return self
        } else if failure.status == .keyConflict, let destination = transfer.destination {
            reason =
                "\(destination) is the file of another transfer of this session, with another URL or "
                + "other options, that has not ended or whose end is not acknowledged; `backhaul wait` waits for "
                + "it and acknowledges its end, and `backhaul cancel NUMBER` cancels it (`backhaul tasks` shows "
                + "its number)"
        } else {
            reason = failure.message
        }
        let place = transfer.place.map { $0 + ": " } ?? ""
        return .failure(failure.withMessage("\(place)\(address.redacted): \(reason)"))
    }

    /// The index of the transfer whose line of a list the library has refused. In the library, all messages about a URL
    /// begin with these words. Other messages are about the options of the command, unless the line has options.
    func indexOfInvalidLine(_ transfers: [Transfer]) -> Int? {
        guard case .failure(let failure) = self, failure.status == .invalidArgument, let index = failure.index,
            transfers.indices.contains(index), transfers[index].place != nil,
            failure.message.hasPrefix("the URL") || transfers[index].hasOwnOptions
        else { return nil }
        return index
    }
}
