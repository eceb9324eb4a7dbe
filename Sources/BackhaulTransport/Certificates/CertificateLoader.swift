internal import BackhaulLoop
internal import BackhaulModel
internal import BackhaulPlatform

/// Reads files of certificates. Each file is read on its own thread, so a file system that hangs blocks only the reads
/// of its own files. The functions of this class are called on the thread of the event loop.
final class CertificateLoader {
    private struct Finished: Sendable {
        var file: CertificateFile
        var result: Result<Certificates, Failure>
    }

    private struct Entry {
        var known: Certificates?
        /// When the file was last checked, in milliseconds of the boot clock.
        var checkedAt: Int64 = 0
        /// The closures that are called after the file was read.
        var waiting: [(Failure?) -> Void] = []
    }

    private let loop: Loop
    /// The number of threads that read.
    private let underWay = Lock(0)
    private var inbox: LoopInbox<Finished>?
    private var entries: [CertificateFile: Entry] = [:]

    /// The limit on threads that read at the same time. The limit is needed because reads may hang.
    private static let threadLimit = 16
    /// How long a file's content is used before the file is checked again.
    private static let freshMilliseconds: Int64 = 1_000
    private static let fileLimit = 256

    init(_ loop: Loop) { self.loop = loop }

    /// Returns the file's content if the file was checked less than a second ago, or since `time`. Otherwise returns
    /// nil, and calls `then` one time after the read. If the loader is freed before the end of the read, `then` is not
    /// called.
    /// - time: when the request began to wait for its files. If a check of a file takes more than a second, the request
    ///   still uses the files that were checked before.
    func obtain(
        _ file: CertificateFile, since time: Int64, then: @escaping (Failure?) -> Void
    ) throws(Failure) -> Certificates? {
        var entry = entries[file] ?? Entry()
        let isFresh = entry.checkedAt >= time || entry.checkedAt + Self.freshMilliseconds > loop.now
        if let known = entry.known, isFresh { return known }
        if entry.waiting.isEmpty { try read(file, unlessUnchanged: entry.known) }
        entry.waiting.append(then)
        if entries.count >= Self.fileLimit { entries = entries.filter { !$0.value.waiting.isEmpty } }
        entries[file] = entry
        return nil
    }

    /// Makes the loader check each file again at its next use, because the user may have corrected the file.
    func expireAll() { expire { _ in true } }

    /// Waits up to 100 ms for the threads. Threads that still hang continue, but do not use this object any more.
    func close() {
        inbox = nil
        entries = [:]
        underWay.wait(until: .after(milliseconds: 100)) { $0 == 0 ? () : nil }
    }

    private func read(_ file: CertificateFile, unlessUnchanged known: Certificates?) throws(Failure) {
        let sender = try open()
        let underWay = underWay
        guard underWay.withLock({ $0 < Self.threadLimit }) else {
            throw Failure(
                .outOfResources,
                "\(file) cannot be read: \(Self.threadLimit) other files of certificates do not respond")
        }
        do throws(SystemError) {
            underWay.withLock { $0 += 1 }
            _ = try Thread(name: "backhaul-pem") {
                let result = CertificateLoader.result(file, unlessUnchanged: known)
                sender.send(Finished(file: file, result: result))
                underWay.change { $0 -= 1 }
            }
        } catch {
            underWay.withLock { $0 -= 1 }
            throw Failure(.outOfResources, "no thread is left to read \(file): \(error)")
        }
    }

    private static func result(
        _ file: CertificateFile, unlessUnchanged known: Certificates?
    ) -> Result<Certificates, Failure> {
        if let known, file.stamp == known.stamp { return .success(known) }
        do throws(Failure) { return .success(try Certificates(file)) } catch { return .failure(error) }
    }

    private func open() throws(Failure) -> LoopInbox<Finished>.Sender {
        if let inbox { return inbox.sender }
        do {
            let made = try LoopInbox<Finished>(loop) { [weak self] item in self?.take(item) }
            inbox = made
            return made.sender
        } catch {
            throw Failure(.outOfResources, "no descriptor is left to read certificates: \(error)")
        }
    }

    private func expire(where isExpired: (CertificateFile) -> Bool) {
        for file in entries.keys where isExpired(file) { entries[file]?.checkedAt = 0 }
    }

    private func take(_ item: Finished) {
        guard let entry = entries.removeValue(forKey: item.file) else { return }
        switch item.result {
        case .success(let known):
            // A renewal replaces a certificate together with its key, so the other file is checked again, too.
            if known !== entry.known, item.file.isOfClient { expire { $0.isOfClient } }
            entries[item.file] = Entry(known: known, checkedAt: loop.now)
            for then in entry.waiting { then(nil) }
        case .failure(let failure):
            for then in entry.waiting { then(failure) }
        }
    }
}
