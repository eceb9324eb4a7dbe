import CBackhaul

/// By which protocol a task sends a file, how its server treats the upload, and when the file changes.
struct UploadPlan: Equatable {
    enum Kind {
        /// The IETF's draft of resumable uploads.
        case ietf
        case tus
        /// The task uses the IETF's draft, which the server does not know.
        case unaware
        /// The task makes an object of S3. A large one is sent in parts.
        case s3
    }

    /// What the engine does with the file at the enqueue (`bh_body_source`).
    enum Source {
        case reference, snapshot, consume

        var value: bh_body_source {
            switch self {
            case .reference: bh_body_source(BH_BODY_REFERENCE)
            case .snapshot: bh_body_source(BH_BODY_SNAPSHOT)
            case .consume: bh_body_source(BH_BODY_CONSUME)
            }
        }
    }

    var kind: Kind
    /// The server that has the upload after it was made.
    var server: UInt32
    var source: Source
    /// For each hundred requests before the last fault: how many find the upload lost, how many find that its last
    /// bytes are lost, and how many are cut before their end or lose their answer.
    var lossPercent: Int64
    var shorteningPercent: Int64
    var cutPercent: Int64
    /// After this time, the server has forgotten the upload; 0: never.
    var lifetime: Int64
    /// How long the server believes that a cut connection still sends; 0: it does not lock uploads.
    var lock: Int64
    /// The most bytes of a request; 0: any number.
    var longestAppend: Int64
    /// Whether the server says how much it has while the bytes arrive.
    var reportsProgress: Bool
    /// The times at which the file gets another content.
    var bodyChanges: [Int64]
    /// Whether a change overwrites the file. Otherwise another file gets its name.
    var isOverwritten: Bool

    var option: bh_resumable_uploads {
        switch kind {
        case .ietf, .unaware: bh_resumable_uploads(BH_RESUMABLE_UPLOADS_IETF)
        case .tus: bh_resumable_uploads(BH_RESUMABLE_UPLOADS_TUS)
        case .s3: bh_resumable_uploads(BH_RESUMABLE_UPLOADS_DEFAULT)
        }
    }

    /// The greatest number of changes of a file (`StoredUpload.matching`).
    static let mostChanges = 2
}

extension History {
    /// Some tasks send files by protocols that continue uploads.
    mutating func addUploads(_ generator: Random) {
        var random = generator
        guard random.chance(40) else { return }
        for index in tasks.indices where tasks[index].isUpload || random.chance(30) {
            guard tasks[index].rival == nil, !tasks.contains(where: { $0.rival == tasks[index].number }) else {
                continue
            }
            tasks[index].upload = Self.upload(tasks[index], &random)
            tasks[index].kind = random.chance(80) ? .put : .post
            tasks[index].replaces = false
        }
        if random.chance(40) { addObjects(&random) }
    }

    /// Some tasks make objects of S3. One of them is so large that it is sent in parts.
    private mutating func addObjects(_ random: inout Random) {
        var isLarge = random.chance(60)
        for index in tasks.indices where tasks[index].upload != nil && random.chance(50) {
            tasks[index].kind = .put
            tasks[index].upload?.kind = .s3
            guard isLarge else { continue }
            isLarge = false
            tasks[index].size = (16 << 20) + random.int(1...10 << 20)
            tasks[index].upload?.bodyChanges = []
            tasks[index].upload?.source = .reference
        }
    }

    private static func upload(_ plan: TaskPlan, _ random: inout Random) -> UploadPlan {
        let changes = random.chance(25) ? random.int(1...Int64(UploadPlan.mostChanges)) : 0
        return UploadPlan(
            kind: random.pick([.ietf, .ietf, .tus, .tus, .unaware]),
            server: random.chance(70) ? plan.resource.server : plan.resource.server % 4 + 1,
            source: random.chance(30) ? .snapshot : .reference,
            lossPercent: random.chance(30) ? random.int(3...40) : 0,
            shorteningPercent: random.chance(30) ? random.int(3...40) : 0,
            cutPercent: random.chance(70) ? random.int(5...60) : 0,
            lifetime: random.chance(10) ? random.magnitude(second...600 * second) : 0,
            lock: random.chance(40) ? random.magnitude(second...120 * second) : 0,
            longestAppend: random.chance(30) ? random.magnitude(65_536...1_000_000) : 0,
            reportsProgress: random.chance(40),
            bodyChanges: (0..<changes).map { _ in plan.time + random.magnitude(1...600 * second) }.sorted(),
            isOverwritten: random.chance(50))
    }
}
