import Backhaul
import Glibc

/// Fetches the list of `--checksums URL`. The engine downloads it in a session of its own, with the proxy and the
/// certificates of the command. The file stays in the store, and is removed with this session.
struct ChecksumFetch {
    /// A list is needed now, so the command does not wait for hours.
    private static let attempts = 5

    private let url: String
    private let options: SettingOptions

    init(_ url: String, _ options: SettingOptions) {
        self.url = url
        self.options = options
    }

    func list(_ application: Application, _ context: Context) throws(CommandError) -> ChecksumList {
        var settings = SessionSettings(identifier: "\(context.baseName)+checksums-\(getpid())")
        settings.base = context.baseName
        settings.options = options
        var session = try application.create(settings, role: .consume)
        if !session.isNew {
            // A killed command with the same process number has left the session, with its tasks and settings.
            try session.remove()
            session = try application.create(settings, role: .consume)
        }
        do throws(CommandError) {
            let content = try content(session, context)
            try session.remove()
            if URLArgument.isUnencrypted(url) {
                context.output.note(
                    "\(URLArgument(url).redacted) came without encryption, so it detects damage, but no forgery.")
            }
            return try ChecksumList(content, name: URLArgument(url).redacted)
        } catch {
            // A refused enqueue has removed the session already.
            try? session.remove()
            throw error
        }
    }

    private func content(_ session: Session, _ context: Context) throws(CommandError) -> [UInt8] {
        var request = Request(url: url)
        var policy = Policy()
        policy.retry.maximumAttempts = ChecksumFetch.attempts
        policy.rules.maximumSize = ChecksumList.largest
        request.policy = policy
        request.priority = Request.priorityNow
        _ = try session.enqueue([Transfer(request: request)])
        while true {
            for event in try session.run(.poll(after: nil, maximum: 10)).events {
                if case .challenge = event { throw needsCredential }
                guard case .taskEnded(let ending) = event else { continue }
                if ending.state == .succeeded, let path = ending.path { return try InputFile.content(path) }
                throw .stopped(.transferFailed, "--checksums: " + Ending(ending).failureSentence)
            }
            _ = try context.signals.wait(for: session.eventDescriptor, milliseconds: nil)
        }
    }

    private var needsCredential: CommandError {
        .stopped(
            .credentialNeeded,
            "the server of \(URLArgument(url).redacted) asks for a credential; fetch the list first, and give the "
                + "file: --checksums FILE")
    }
}
