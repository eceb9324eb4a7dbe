public import BackhaulModel
public import BackhaulPlatform

/// A file of a request body that is taken into the store when the upload is enqueued.
public struct IngestedBody: Sendable {
    public var file: BodyFile
    public var source: BodySource
    /// The file's future name in the store's folder of bodies. No other file there has this name. If the file is read
    /// in place (a reference), the name is not used.
    public var name: String
    public init(_ file: BodyFile, _ source: BodySource, name: String) {
        self.file = file
        self.source = source
        self.name = name
    }
}

extension DiskThreads {
    /// Takes each file into `folder`, in the way that its `source` demands. A reference, which is read in place, is
    /// only checked. A snapshot is copied, by reflink if the file system supports it. A file to consume is moved in two
    /// steps, so that a crash loses no file. This function makes a hard link in `folder`, or a copy if a hard link is
    /// impossible. Later, `removeConsumed` removes the old name.
    ///
    /// `then` is called after all files are synced, with the files from which the bodies must be read. If one or more
    /// files fail, `then` gets the failure of the failed file that is first in `bodies`. In this case, no file of this
    /// call stays in `folder`. `forbidden` lists directories from which no file may be consumed.
    public func ingest(
        _ bodies: [IngestedBody], in folder: String, forbidden: [FileIdentity],
        then: @escaping @Sendable (Result<[BodyFile], Failure>) -> Void
    ) {
        guard !bodies.isEmpty else { return then(.success([])) }
        let outcomes = Lock(IngestState(count: bodies.count))
        for _ in bodies.prefix(Self.maximumIngests) {
            ingestNext(of: bodies, in: folder, forbidden, outcomes, then: then)
        }
    }

    /// How many files are taken into the store at the same time. Each of them needs two descriptors.
    private static let maximumIngests = 128

    private func ingestNext(
        of bodies: [IngestedBody], in folder: String, _ forbidden: [FileIdentity], _ outcomes: Lock<IngestState>,
        then: @escaping @Sendable (Result<[BodyFile], Failure>) -> Void
    ) {
        guard let index = outcomes.withLock({ $0.takeNext() }) else { return }
        let body = bodies[index]
        let (worker, id) = (worker(for: body.file.path), newID())
        let settled: @Sendable (Result<BodyFile, Failure>) -> Void = { [weak self] result in
            let all = outcomes.withLock { $0.settle(index, result) }
            self?.ingestNext(of: bodies, in: folder, forbidden, outcomes, then: then)
            if let all { self?.settle(bodies, all, in: folder, then: then) }
        }
        worker.post { context in
            context.ingests[id] = BodyIngest(body, in: folder, forbidden: forbidden, files: context.files)
            DiskThreads.advance(ingests: id, worker, then: settled)
        }
    }

    private static func advance(
        ingests id: UInt64, _ worker: Worker<DiskContext>,
        then: @escaping @Sendable (Result<BodyFile, Failure>) -> Void
    ) {
        worker.post { context in
            guard let ingests = context.ingests[id] else { return }
            do throws(Failure) {
                guard try ingests.advance() else { return advance(ingests: id, worker, then: then) }
                context.ingests[id] = nil
                ingests.finish(context, then: then)
            } catch {
                context.ingests[id] = nil
                then(.failure(error))
            }
        }
    }

    private func settle(
        _ bodies: [IngestedBody], _ results: [Result<BodyFile, Failure>], in folder: String,
        then: @escaping @Sendable (Result<[BodyFile], Failure>) -> Void
    ) {
        do throws(Failure) {
            var files: [BodyFile] = []
            for (index, result) in results.enumerated() {
                do throws(Failure) {
                    files.append(try result.get())
                } catch {
                    var failure = error
                    failure.index = UInt64(index)
                    throw failure
                }
            }
            then(.success(files))
        } catch {
            let paths = bodies.filter { $0.source != .reference }.map { folder + "/" + $0.name }
            remove(paths) { _ in then(.failure(error)) }
        }
    }

    /// Removes the old names of consumed files, which are now in the store. If another file has such a name now, the
    /// name stays. `then` gets the files that are done: their old names do not exist any more, or belong to other
    /// files. A file is not done while the file system of its old name is away.
    public func removeConsumed(_ files: [BodyFile], then: @escaping @Sendable ([BodyFile]) -> Void) {
        guard !files.isEmpty else { return then([]) }
        let outcomes = Lock((remaining: files.count, done: [BodyFile]()))
        for file in files {
            worker(for: file.path).post { context in
                context.removeConsumed(file) { isDone in
                    let done = outcomes.withLock { outcomes in
                        if isDone { outcomes.done.append(file) }
                        outcomes.remaining -= 1
                        return outcomes.remaining == 0 ? outcomes.done : nil
                    }
                    if let done { then(done) }
                }
            }
        }
    }

    /// Calls `then` with the names in a folder, except those that are not UTF-8. If the folder cannot be read, the list
    /// is empty.
    public func names(in folder: String, then: @escaping @Sendable ([String]) -> Void) {
        worker(for: folder).post { _ in then((try? DirectoryReader.textNames(in: folder)) ?? []) }
    }
}

/// The results of one call of `ingest` so far.
private struct IngestState {
    private var next = 0
    private var remaining: Int
    private var results: [Result<BodyFile, Failure>?]

    init(count: Int) {
        remaining = count
        results = Array(repeating: nil, count: count)
    }

    mutating func takeNext() -> Int? {
        guard next < results.count else { return nil }
        defer { next += 1 }
        return next
    }

    /// Stores a result. Returns all results if this result was the last one.
    mutating func settle(_ index: Int, _ result: Result<BodyFile, Failure>) -> [Result<BodyFile, Failure>]? {
        results[index] = result
        remaining -= 1
        return remaining == 0 ? results.compactMap(\.self) : nil
    }
}
