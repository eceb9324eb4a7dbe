internal import BackhaulModel
internal import BackhaulPlatform

/// A listing of the sessions that a poll of the application has requested from the engine, which runs the tasks. A
/// client has at most one such listing. If the poll times out, a later poll uses the listing.
struct AttentionListing: Sendable {
    let ticket: Ticket
    /// The sessions that needed attention when the listing was requested.
    let unreported: Attention.Unreported
    /// Whether a poll has timed out, and the listing has not arrived since.
    var isLate = false
}

extension ClientState {
    /// Returns the failure for a poll, and makes the client search for an engine again. So a later poll can succeed.
    mutating func takeFailure() -> Failure? {
        defer { searchAgain() }
        return failure
    }

    /// Notes that a poll has timed out. Until the listing arrives, the descriptor is not readable because of it.
    mutating func markListingLate() {
        listing?.isLate = true
        updateDescriptors()
    }

    /// Notes that the listing of the ticket has arrived. If it was late, the descriptor becomes readable again. A host
    /// that uses edge-triggered polling (epoll(7)) gets a new edge.
    mutating func listingArrived(_ ticket: Ticket) {
        guard listing?.ticket === ticket, listing?.isLate == true else { return }
        listing?.isLate = false
        updateDescriptors()
    }

    /// Removes the listing of the ticket. Returns nil if another poll has used this listing.
    mutating func takeListing(_ ticket: Ticket) -> AttentionListing? {
        guard let taken = listing, taken.ticket === ticket else { return nil }
        listing = nil
        return taken
    }
}
