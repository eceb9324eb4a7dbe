/// The reason for which a command ends early.
enum CommandError: Error {
    /// The command line is wrong. The text states what is wrong and what to do.
    case usage(String)
    /// A call of the library failed.
    case failure(Failure)
    /// The command cannot continue, for a reason that it found itself.
    case stopped(ExitCode, String)
    /// A signal requested the end of the process.
    case interrupted(Int32)
}
