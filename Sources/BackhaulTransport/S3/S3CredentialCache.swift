internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Finds the server and the credentials for requests of S3, and keeps them until shortly before they expire. One thread
/// reads the files, and each command has its own thread, because these calls may hang. The functions of this class are
/// called on the thread of the event loop.
final class S3CredentialCache {
    typealias Found = Result<(settings: S3Settings, credentials: S3Credentials), Failure>

    private struct Entry {
        var found: Found?
        /// Until when `found` is used, in milliseconds of the boot clock.
        var usedUntil: Int64 = 0
        var waiting: [(Found) -> Void] = []
        var fetch: S3CredentialFetch?
        /// The thread of the command that prints the credentials, until the command has ended.
        var command: Worker<Void>?
    }

    /// What a thread has found for the settings.
    private enum Step: Sendable {
        case resolved(Result<S3Resolution, Failure>)
        case command(Result<S3Credentials, Failure>, S3Resolution, position: Int)
        case authorization(String?, url: String, S3Resolution, next: Int)
    }

    private struct Finished: Sendable {
        var settings: S3Settings
        var step: Step
    }

    private let loop: Loop
    private unowned let transport: Transport
    /// The thread that reads the files.
    private var reader: Worker<Void>?
    private var inbox: LoopInbox<Finished>?
    private var entries: [S3Settings: Entry] = [:]
    /// The commands that wait until another one has ended, the oldest first.
    private var queue: [(settings: S3Settings, step: @Sendable () -> Step)] = []
    /// A bucket of a server. Servers with different endpoints can have buckets of the same name.
    private struct Bucket: Hashable {
        let endpoint: String?
        let name: String
    }

    /// The regions of buckets that their servers have named.
    private var regions: [Bucket: String] = [:]

    /// Credentials that expire earlier are fetched again.
    private static let marginSeconds: Int64 = 300
    /// How long credentials without an expiry are used before the files are read again, and how long a failure is kept.
    private static let freshMilliseconds: Int64 = 60_000
    private static let failureMilliseconds: Int64 = 1_000
    private static let entryLimit = 256
    /// The limit on commands that run at the same time. `S3Files` ends a command that hangs.
    static let commandLimit = 16

    var queuedCommands: Int { queue.count }

    init(_ transport: Transport) {
        self.transport = transport
        loop = transport.loop
    }

    /// Calls `then` one time with the completed settings and the credentials, in most cases before this function
    /// returns.
    func obtain(_ settings: S3Settings, then: @escaping (Found) -> Void) throws(Failure) {
        var entry = entries[settings] ?? Entry()
        if let found = entry.found, loop.now < entry.usedUntil { return then(found) }
        if entries.count >= Self.entryLimit { entries = entries.filter { !$0.value.waiting.isEmpty } }
        let isFirst = entry.waiting.isEmpty
        entry.waiting.append(then)
        if isFirst {
            try read(settings) { .resolved(Result { () throws(Failure) in try S3Files.resolution(of: settings) }) }
        }
        entries[settings] = entry
    }

    /// Makes the next request fetch credentials again, because a server has said that they have expired.
    func expire(_ settings: S3Settings) { entries[settings]?.usedUntil = 0 }

    func region(of bucket: String, at endpoint: String?) -> String? {
        regions[Bucket(endpoint: endpoint, name: bucket)]
    }

    func note(region: String, of bucket: String, at endpoint: String?) {
        regions[Bucket(endpoint: endpoint, name: bucket)] = region
    }

    func close() {
        inbox = nil
        let deadline = Deadline.after(milliseconds: 100)
        for worker in entries.values.map(\.command) + [reader] { _ = worker?.close(until: deadline) }
        (entries, queue, reader) = ([:], [], nil)
    }

    private func read(_ settings: S3Settings, _ step: @escaping @Sendable () -> Step) throws(Failure) {
        if let reader { return try post(settings, to: reader, step) }
        let made = try makeWorker()
        reader = made
        try post(settings, to: made, step)
    }

    private func run(_ settings: S3Settings, _ step: @escaping @Sendable () -> Step) throws(Failure) {
        guard entries.values.count(where: { $0.command != nil }) < Self.commandLimit else {
            return queue.append((settings, step))
        }
        let worker = try makeWorker()
        entries[settings]?.command = worker
        try post(settings, to: worker, step)
    }

    /// Runs the first command of the queue that can be started.
    private func runQueued() {
        while !queue.isEmpty {
            let (settings, step) = queue.removeFirst()
            do throws(Failure) {
                return try run(settings, step)
            } catch {
                end(settings, .failure(error))
            }
        }
    }

    private func post(
        _ settings: S3Settings, to worker: Worker<Void>, _ step: @escaping @Sendable () -> Step
    ) throws(Failure) {
        let sender = try open()
        worker.post { _ in sender.send(Finished(settings: settings, step: step())) }
    }

    private func makeWorker() throws(Failure) -> Worker<Void> {
        do {
            return try Worker<Void>(name: "bh-s3", make: {})
        } catch {
            throw Failure(.outOfResources, "no thread is left for the credentials of S3: \(error)")
        }
    }

    private func open() throws(Failure) -> LoopInbox<Finished>.Sender {
        if let inbox { return inbox.sender }
        do {
            let made = try LoopInbox<Finished>(loop) { [weak self] item in self?.take(item.step, for: item.settings) }
            inbox = made
            return made.sender
        } catch {
            throw Failure(.outOfResources, "no descriptor is left for the credentials of S3: \(error)")
        }
    }

    private func take(_ step: Step, for settings: S3Settings) {
        switch step {
        case .resolved(.failure(let failure)): end(settings, .failure(failure))
        case .resolved(.success(let resolution)): ask(0, of: resolution, for: settings)
        case .command(.failure(let failure), _, _): end(settings, .failure(failure))
        case .command(.success(let credentials), let resolution, let position):
            end(settings, resolution, credentials, position: position)
        case .authorization(let token, let url, let resolution, let next):
            fetch(settings, resolution, next: next) { [transport] then in
                S3CredentialFetch(container: url, token, transport, then: then)
            }
        }
    }

    /// Asks the sources from a position on.
    private func ask(_ position: Int, of resolution: S3Resolution, for settings: S3Settings) {
        guard position < resolution.sources.count else {
            return end(
                settings,
                .failure(
                    S3Resolution.missing(
                        "neither the environment of the engine nor the files of AWS have any; run aws configure, or "
                            + "give a profile or a command for credentials")))
        }
        do throws(Failure) {
            switch resolution.sources[position] {
            case .known(let credentials, _): end(settings, resolution, credentials, position: position)
            case .command(let command):
                try run(settings) {
                    .command(
                        Result { () throws(Failure) in try S3Files.credentials(from: command) }, resolution,
                        position: position)
                }
            case .container(let url, let authorization, let file):
                try read(settings) {
                    let token = file.flatMap { S3Files.text(of: $0) }?.split { $0.isWhitespace }.joined(separator: " ")
                    return .authorization(token ?? authorization, url: url, resolution, next: position + 1)
                }
            case .instance(let url):
                fetch(settings, resolution, next: position + 1) { [transport] then in
                    S3CredentialFetch(instance: url, transport, then: then)
                }
            }
        } catch {
            end(settings, .failure(error))
        }
    }

    private func fetch(
        _ settings: S3Settings, _ resolution: S3Resolution, next: Int,
        _ make: (@escaping (S3Credentials?) -> Void) -> S3CredentialFetch
    ) {
        let fetch = make { [unowned self] credentials in
            entries[settings]?.fetch = nil
            if let credentials { return end(settings, resolution, credentials, position: next - 1) }
            ask(next, of: resolution, for: settings)
        }
        entries[settings]?.fetch = fetch
        fetch.start()
    }

    /// - position: the position of the source that has the credentials.
    private func end(
        _ settings: S3Settings, _ resolution: S3Resolution, _ credentials: S3Credentials, position: Int
    ) {
        do throws(Failure) {
            try credentials.check(from: resolution.sources[position])
        } catch {
            return end(settings, .failure(error))
        }
        let left = credentials.expires.map { $0 - Clock.wallMilliseconds / 1_000 - Self.marginSeconds }
        // Credentials that are near their end at once are used nevertheless, for a second.
        let milliseconds = left.map { min(max($0, 1), 86_400) * 1_000 } ?? Self.freshMilliseconds
        end(settings, .success((resolution.settings, credentials)), keptFor: milliseconds)
    }

    private func end(_ settings: S3Settings, _ found: Found, keptFor milliseconds: Int64 = failureMilliseconds) {
        guard let entry = entries[settings] else { return }
        entries[settings] = Entry(found: found, usedUntil: loop.now + milliseconds)
        for then in entry.waiting { then(found) }
        if entry.command != nil { runQueued() }
    }
}
