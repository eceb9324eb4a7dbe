/// A part of the histories that the first ones did not have. A feature has random numbers of its own. If it is left
/// out, a seed has the history that it had before the feature was added.
enum Feature: String, CaseIterable {
    /// All that was added after the first histories, so the other features, too.
    case rare
    /// Secrets of servers change.
    case credentials
    /// Files of tasks are in the store.
    case storeFiles = "store-files"
    /// Tasks are in groups, and programs enqueue tasks again that have ended.
    case groups
    /// Programs use the keys of tasks that have ended, and the paths of consumed files, for something else.
    case reuse
}

/// Features as bits. A `Set` has memory of its own, which the processes of a run would not share.
struct FeatureSet: Equatable {
    private var bits: UInt64 = 0

    mutating func insert(_ feature: Feature) { bits |= Self.bit(feature) }

    func contains(_ feature: Feature) -> Bool { bits & Self.bit(feature) != 0 }

    private static func bit(_ feature: Feature) -> UInt64 { 1 << UInt64(Feature.allCases.firstIndex(of: feature)!) }
}
