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
        guard let failure else { return nil }
        listing = nil
        outage?.isNews = false
        searchAgain()
        return failure
    }

    /// Notes that a poll has timed out while it waited for the ticket's listing. Until the listing arrives, the
    /// descriptor is not readable because of it.
    mutating func markListingLate(_ ticket: Ticket) {
        guard listing?.ticket === ticket, listing?.isLate == false else { return }
        listing?.isLate = true
        updateDescriptors()
    }

    /// Returns the present listing. If there is none, and a session needs attention, returns a new listing with this
    /// ticket, and the caller must request it.
    mutating func currentListing(orNew ticket: Ticket) -> AttentionListing? {
        if listing == nil, attention.hasUnreported {
            listing = AttentionListing(ticket: ticket, unreported: attention.unreported)
        }
        return listing
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
        // While the listing was late, the descriptor was not readable.
        if taken.isLate { updateDescriptors() }
        return taken
    }
}
