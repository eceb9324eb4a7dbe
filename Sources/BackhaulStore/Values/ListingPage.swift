internal import BackhaulModel

/// The items of one reply to a listing, until the reply is full.
struct ListingPage<Item> {
    private(set) var items: [Item] = []
    /// Whether further items exist.
    private(set) var more = false
    private let maximum: Int
    private var room = Limits.chunkSize

    init(maximum: Int) { self.maximum = maximum }

    /// The number of rows to read: one row more than the page can have shows whether further items exist.
    var limit: Int { maximum + 1 }

    /// Adds an item with this size in bytes. Returns false when the page is full.
    mutating func add(_ item: Item, size: Int) -> Bool {
        guard items.count < maximum, room > 0 else {
            more = true
            return false
        }
        room -= size
        items.append(item)
        return true
    }
}
