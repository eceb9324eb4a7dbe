import Glibc

/// Returns the kernel's id of the calling thread.
func currentThreadID() -> Int {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &buffer, buffer.count)
    return Int(String(decoding: buffer[..<max(0, count)], as: UTF8.self).split(separator: "/").last ?? "") ?? 0
}

/// The system call numbers of epoll_wait and epoll_pwait on x86-64, and of epoll_pwait on AArch64.
private let waits = ["232", "281", "22"]

/// Waits until the thread blocks in epoll_wait(2), and returns the time-out of that call, which is read from /proc.
/// Returns nil if the thread does not block.
func waitLimit(ofThread id: Int) async -> Int32? {
    for _ in 0..<100_000 {
        let words = readText("/proc/self/task/\(id)/syscall").split(separator: " ")
        // The words are the system call's number and its arguments: descriptor, buffer, count and milliseconds. While
        // the thread runs, the only word is "running".
        if words.count > 4, waits.contains(String(words[0])),
            let limit = UInt64(words[4].dropFirst(2), radix: 16)
        {
            return Int32(truncatingIfNeeded: limit)
        }
        await Task.yield()
    }
    return nil
}

private func readText(_ path: String) -> String {
    let number = open(path, O_RDONLY)
    guard number >= 0 else { return "" }
    defer { close(number) }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = read(number, &buffer, buffer.count)
    return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
}
