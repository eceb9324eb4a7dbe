internal import CUV

/// The events for which a descriptor is watched, or the events that occurred. The values are those of libuv.
public struct Interest: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let readable = Interest(rawValue: UV_READABLE.rawValue)
    public static let writable = Interest(rawValue: UV_WRITABLE.rawValue)
    /// EPOLLPRI. With this event, some files of /proc and /sys report changes.
    public static let urgent = Interest(rawValue: UV_PRIORITIZED.rawValue)
}
