import BackhaulModel
import Glibc
import Testing

@testable import BackhaulConditions

extension BusWatch {
    /// Waits until `condition` is true for the readings (the values that the watch has read), and returns them. Throws
    /// if no reading changes for ten seconds.
    @discardableResult
    func until(
        _ what: String, at location: SourceLocation = #_sourceLocation, _ condition: (BusReadings) -> Bool
    ) throws -> BusReadings {
        var last = takeReadings()
        while !condition(last) {
            try #require(isReadable(within: 10_000), "\(what) did not happen: \(last)", sourceLocation: location)
            last = takeReadings()
        }
        return last
    }

    func isReadable(within milliseconds: Int32) -> Bool {
        var item = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, milliseconds) > 0
    }

    func settled(at location: SourceLocation = #_sourceLocation) throws -> BusReadings {
        try until("the first reply", at: location) { $0.isSettled }
    }
}
