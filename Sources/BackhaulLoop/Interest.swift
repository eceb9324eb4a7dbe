internal import CLinux

/// The events for which a descriptor is watched, or the events that occurred.
public struct Interest: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let readable = Interest(rawValue: 1)
    public static let writable = Interest(rawValue: 2)
    /// EPOLLPRI. With this event, some files of /proc and /sys report changes.
    public static let urgent = Interest(rawValue: 4)

    /// The events for epoll_ctl(2), level-triggered.
    var events: UInt32 {
        let read = contains(.readable) ? EPOLLIN.rawValue | EPOLLRDHUP.rawValue : 0
        let write = contains(.writable) ? EPOLLOUT.rawValue : 0
        return read | write | (contains(.urgent) ? EPOLLPRI.rawValue : 0)
    }

    /// The events from epoll_wait(2). An error or a hang-up counts as all events in `requested`: the next read or write
    /// returns the error.
    init(events: UInt32, requested: Interest) {
        let broken = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        var interest: Interest = []
        if broken || events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { interest.insert(.readable) }
        if broken || events & EPOLLOUT.rawValue != 0 { interest.insert(.writable) }
        if broken || events & EPOLLPRI.rawValue != 0 { interest.insert(.urgent) }
        self = interest.intersection(requested)
    }
}
