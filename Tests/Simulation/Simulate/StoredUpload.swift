/// What a server has of an upload. The server compares the bytes with the versions of the file, and keeps none of them.
/// It is in the memory that the processes of a run share.
struct StoredUpload {
    var task: Int
    /// The size of the whole body, as the request that made the upload has said.
    var size: Int64
    var offset: Int64 = 0
    /// For each version of the file, how many of the first bytes are its bytes.
    private var matching: (Int64, Int64, Int64) = (0, 0, 0)
    var isComplete = false
    var isGone = false
    /// Whether a request was sent to its URL, so the library knows it.
    var isUsed = false
    /// Whether the server has lost bytes since it last said how many it has.
    var hasLostBytes = false
    /// When the server forgets the upload.
    var end: Int64

    init(task: Int, size: Int64, end: Int64) { (self.task, self.size, self.end) = (task, size, end) }

    mutating func append(_ bytes: ArraySlice<UInt8>) {
        for version in 0...UploadPlan.mostChanges where self[version] == offset {
            self[version] += Int64(Content.matching(bytes, task, version: UInt64(version), from: offset))
        }
        offset += Int64(bytes.count)
    }

    mutating func shorten(to size: Int64) {
        offset = size
        for version in 0...UploadPlan.mostChanges { self[version] = min(self[version], size) }
    }

    /// The version of the file that the server has as a whole; nil if it has a mixture, or a part.
    func version(_ plan: TaskPlan) -> Int? {
        (0...UploadPlan.mostChanges).first {
            self[$0] == offset && Content.size(plan, version: UInt64($0)) == offset
        }
    }

    private subscript(version: Int) -> Int64 {
        get { version == 0 ? matching.0 : version == 1 ? matching.1 : matching.2 }
        set {
            switch version {
            case 0: matching.0 = newValue
            case 1: matching.1 = newValue
            default: matching.2 = newValue
            }
        }
    }
}
