/// The tickets whose outcomes have come, and that the host has not fetched yet. They are in the order of their
/// outcomes. A *ticket* stands for a command. There may be very many tickets, so no operation searches through them.
struct AnnouncedTickets: Sendable {
    private var tickets: [UInt64: Ticket] = [:]
    private var numbers: [ObjectIdentifier: UInt64] = [:]
    /// No ticket in the list has a smaller number than `first`. The number `end` is the next one to be used.
    private var first: UInt64 = 0
    private var end: UInt64 = 0

    var isEmpty: Bool { tickets.isEmpty }

    mutating func append(_ ticket: Ticket) {
        guard numbers[ObjectIdentifier(ticket)] == nil else { return }
        numbers[ObjectIdentifier(ticket)] = end
        tickets[end] = ticket
        end += 1
    }

    mutating func remove(_ ticket: Ticket) {
        guard let number = numbers.removeValue(forKey: ObjectIdentifier(ticket)) else { return }
        tickets[number] = nil
    }

    mutating func popFirst() -> Ticket? {
        while first < end {
            defer { first += 1 }
            guard let ticket = tickets.removeValue(forKey: first) else { continue }
            numbers[ObjectIdentifier(ticket)] = nil
            return ticket
        }
        return nil
    }
}
