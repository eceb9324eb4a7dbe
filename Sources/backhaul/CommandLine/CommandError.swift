/// The reason for which a command ends early.
enum CommandError: Error {
    /// The command line is wrong. The text states the mistake and what the user should do.
    case usage(String)
    /// A call of the library failed.
    case failure(Failure)
    /// The command cannot continue. The command itself has found the reason.
    case stopped(ExitCode, String)
    /// A signal has requested that the process ends.
    case interrupted(Int32)
}
