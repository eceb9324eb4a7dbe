import Glibc

exit(Program.run { () throws(CommandError) in try Arguments.ofProcess() })
