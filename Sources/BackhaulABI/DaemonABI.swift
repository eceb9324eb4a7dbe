internal import BackhaulDaemon

/// Runs the daemon in this process, until it exits. Only the program `Sources/backhauld` calls this function, so the
/// header does not declare it.
@c(bhd_run)
public func runDaemon() -> Int32 { Program.run(CommandLine.arguments) }
