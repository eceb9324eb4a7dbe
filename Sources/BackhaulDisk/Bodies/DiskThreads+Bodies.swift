public import BackhaulModel
internal import BackhaulPlatform

/// A file of a request's body that is being handed over.
public struct HandedOverBody: Sendable {
    public var file: BodyFile
    public var source: BodySource
    /// In the store's folder of bodies, unlike any other there. Not used for a reference.
    public var name: String
    public init(_ file: BodyFile, _ source: BodySource, name: String) {
        self.file = file
        self.source = source
        self.name = name
    }
}

extension DiskThreads {
    /// Takes each file over as its source says, in `folder`: a reference is looked at only; a snapshot is copied, by
    /// reflink where the file system can; a file to consume gets a second name, or is copied where it cannot have one.
    /// Its old name stays until `removeConsumed`, so that nothing is lost by a crash in between. All of it is on the
    /// disk when `then` is called, with the files as they are to be read from now on, or with the first failure (by
    /// position) and nothing left in the folder. `forbidden`: directories that nothing is consumed from, as pairs of
    /// device and inode.
    public func keep(
        _ bodies: [HandedOverBody], in folder: String, forbidden: [(UInt64, UInt64)],
        then: @escaping @Sendable (Result<[BodyFile], Failure>) -> Void
    ) {
        guard !bodies.isEmpty else { return then(.success([])) }
        let outcomes = Lock(KeptBodies(count: bodies.count))
        for _ in bodies.prefix(Self.keptAtATime) { keepNext(of: bodies, in: folder, forbidden, outcomes, then: then) }
    }

    /// Each has two files open.
    private static let keptAtATime = 128

    private func keepNext(
        of bodies: [HandedOverBody], in folder: String, _ forbidden: [(UInt64, UInt64)], _ outcomes: Lock<KeptBodies>,
        then: @escaping @Sendable (Result<[BodyFile], Failure>) -> Void
    ) {
        guard let index = outcomes.withLock({ $0.takeNext() }) else { return }
        let body = bodies[index]
        let (worker, id) = (worker(for: body.file.path), newID())
        let settled: @Sendable (Result<BodyFile, Failure>) -> Void = { [weak self] result in
            let all = outcomes.withLock { $0.settle(index, result) }
            self?.keepNext(of: bodies, in: folder, forbidden, outcomes, then: then)
            if let all { self?.settle(bodies, all, in: folder, then: then) }
        }
        worker.post { context in
            context.keeping[id] = BodyKeeping(body, in: folder, forbidden: forbidden, files: context.files)
            DiskThreads.advance(keeping: id, worker, then: settled)
        }
    }

    private static func advance(
        keeping id: UInt64, _ worker: Worker<DiskContext>,
        then: @escaping @Sendable (Result<BodyFile, Failure>) -> Void
    ) {
        worker.post { context in
            guard let keeping = context.keeping[id] else { return }
            do throws(Failure) {
                guard try keeping.advance() else { return advance(keeping: id, worker, then: then) }
                context.keeping[id] = nil
                keeping.finish(context, then: then)
            } catch {
                context.keeping[id] = nil
                then(.failure(error))
            }
        }
    }

    private func settle(
        _ bodies: [HandedOverBody], _ results: [Result<BodyFile, Failure>], in folder: String,
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
            remove(paths) { then(.failure(error)) }
        }
    }

    /// Removes the old names of consumed files, unless something else has them by now. `then` is given those of which
    /// that is on the disk.
    public func removeConsumed(_ files: [BodyFile], then: @escaping @Sendable ([BodyFile]) -> Void) {
        guard !files.isEmpty else { return then([]) }
        let outcomes = Lock((left: files.count, done: [BodyFile]()))
        for file in files {
            worker(for: file.path).post { context in
                context.removeConsumed(file) { isDone in
                    let done = outcomes.withLock { outcomes in
                        if isDone { outcomes.done.append(file) }
                        outcomes.left -= 1
                        return outcomes.left == 0 ? outcomes.done : nil
                    }
                    if let done { then(done) }
                }
            }
        }
    }

    /// Names in a folder, without those that are not UTF-8; none when it cannot be read.
    public func names(in folder: String, then: @escaping @Sendable ([String]) -> Void) {
        worker(for: folder).post { _ in then((try? DirectoryReader.textNames(in: folder)) ?? []) }
    }
}

/// What has become of the files so far.
private struct KeptBodies {
    private var next = 0
    private var left: Int
    private var results: [Result<BodyFile, Failure>?]

    init(count: Int) {
        left = count
        results = Array(repeating: nil, count: count)
    }

    mutating func takeNext() -> Int? {
        guard next < results.count else { return nil }
        defer { next += 1 }
        return next
    }

    /// All, when this was the last.
    mutating func settle(_ index: Int, _ result: Result<BodyFile, Failure>) -> [Result<BodyFile, Failure>]? {
        results[index] = result
        left -= 1
        return left == 0 ? results.compactMap(\.self) : nil
    }
}
