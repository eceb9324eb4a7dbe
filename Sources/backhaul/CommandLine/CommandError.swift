/// Why a command ends early.
enum CommandError: Error {
    /// The command line is wrong. The sentence says what was wrong and what to do.
    case usage(String)
    /// The library refused something.
    case failure(Failure)
    /// The command itself cannot go on.
    case stopped(ExitCode, String)
    /// A signal asked the process to leave.
    case interrupted(Int32)
}
