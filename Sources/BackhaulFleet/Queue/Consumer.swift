internal import BackhaulPlatform
internal import Glibc

/// A handle that consumes a session, and its process. Another process of the same machine can see that the process has
/// ended.
struct Consumer {
    /// No other handle of the fleet has this name.
    var handle: String
    var process: ProcessIdentity

    /// Names the boot of the machine, and the namespace in which the id of the process is valid
    /// (pid_namespaces(7)). Empty if it cannot be read: then no process can see that this one has ended.
    static let machine: String = {
        var name = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/self/ns/pid", &name, name.count)
        let boot = ProcessIdentity.currentBootID
        return length > 0 && !boot.isEmpty ? boot + " " + String(decoding: name.prefix(length), as: UTF8.self) : ""
    }()
}
