import Backhaul

/// The reason for which a command ends early.
enum CommandError: Error {
    /// The command line is wrong. The text states the mistake and what the user should do.
    case usage(String)
    /// A call of the library failed.
    case failure(BackhaulError)
    /// The command cannot continue. The command itself has found the reason.
    case stopped(ExitCode, String)
    /// A signal has requested that the process ends.
    case interrupted(Int32)

    /// The status of a call that failed. Nil for another reason.
    var status: Status? { if case .failure(let error) = self { error.status } else { nil } }

    /// Whether the session does not exist any more: another process has invalidated and removed it.
    var isSessionGone: Bool { status == .notFound || status == .invalidated }

    /// If the call failed with this status, the same error with another message.
    func with(_ status: Status, message: (BackhaulError) -> String) -> CommandError {
        guard case .failure(let error) = self, error.status == status else { return self }
        return .failure(error.withMessage(message(error)))
    }
}

extension BackhaulError {
    /// An error that the command itself found.
    init(_ code: ExitCode, _ message: String) { self.init(code.status, message: message) }

    var exitCode: ExitCode { ExitCode(status) }

    /// The same error, with the command line's words for the fields and constants of the C header.
    var spoken: BackhaulError { withMessage(OptionNaming.spoken(message)) }

    var json: JSON {
        .record(
            "bh_error",
            [
                ("status", .string(status.name)), ("domain", .string(domain.word)), ("detail", .integer(detail)),
                ("index", index.map { .number($0) } ?? .null), ("message", .string(message)),
            ])
    }
}
