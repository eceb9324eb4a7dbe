import BackhaulDisk
import BackhaulModel
import BackhaulPlatform
import CLinux
import Glibc
import Testing

/// A temporary directory for one test, which `deinit` removes.
final class Scratch {
    let path: String

    init() throws {
        var template = Array("/var/tmp/backhaul-disk-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) != nil }
        try #require(made)
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { removeTree(path) }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    func location(_ name: String, mode: FileMode = 0o644, replace: Bool = false) throws -> PartLocation {
        let destination = try DestinationCheck.check(path: path(name), ifExists: .replace)
        return PartLocation(
            destination: destination, partName: ".backhaul-test-\(name).part", mode: mode, replace: replace)
    }

    /// Makes the directory, and returns the location of a download into it, as at the enqueue.
    func location(inNewDirectory name: String) throws -> PartLocation {
        try #require(mkdir(path(name), 0o700) == 0)
        let destination = try DestinationCheck.check(path: path("\(name)/file"), ifExists: .fail)
        return PartLocation(destination: destination, partName: "part", mode: 0o644, replace: false)
    }

    func partPath(_ location: PartLocation) -> String { path(location.partName) }

    func names() -> [String] { directoryNames(path) }

    /// Overwrites one byte of a file, as another program does, until the kernel's coarse clock gives the file a new
    /// time.
    func overwrite(_ name: String, at offset: Int, with byte: UInt8) throws {
        let file = open(path(name), O_WRONLY)
        try #require(file >= 0)
        defer { close(file) }
        var (before, after) = (stat(), stat())
        try #require(fstat(file, &before) == 0)
        repeat {
            try #require(pwrite(file, [byte], 1, offset) == 1 && fstat(file, &after) == 0)
        } while (after.st_mtim.tv_sec, after.st_mtim.tv_nsec) == (before.st_mtim.tv_sec, before.st_mtim.tv_nsec)
    }
}

func directoryNames(_ path: String) -> [String] {
    ((try? DirectoryReader.textNames(in: path)) ?? []).sorted()
}

private func removeTree(_ path: String) {
    chmod(path, 0o700)
    for name in directoryNames(path) {
        if unlink("\(path)/\(name)") != 0 { removeTree("\(path)/\(name)") }
    }
    rmdir(path)
}

func contents(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&buffer, 1, buffer.count, file)
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

func write(_ bytes: [UInt8], to path: String) throws {
    let file = try #require(fopen(path, "wb"))
    defer { fclose(file) }
    try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count)
}

func permissions(_ path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
}

/// Returns the number of the descriptor with which this process has opened the file.
func openDescriptor(of path: String) -> Int32? {
    for name in directoryNames("/proc/self/fd") {
        var target = [CChar](repeating: 0, count: 4096)
        let size = readlink("/proc/self/fd/\(name)", &target, target.count - 1)
        if size > 0, String(decoding: target[..<size].map { UInt8(bitPattern: $0) }, as: UTF8.self) == path {
            return Int32(name)
        }
    }
    return nil
}

/// Runs the body while this process can open no file: each open(2) fails with EMFILE.
func withoutDescriptors<Value>(_ body: () throws -> Value) throws -> Value {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    try #require(getrlimit(resource, &limit) == 0)
    var none = limit
    none.rlim_cur = 0
    try #require(setrlimit(resource, &none) == 0)
    defer { setrlimit(resource, &limit) }
    return try body()
}

/// Waits until a disk thread has completed one call, and returns the result.
func result<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
) async -> Result<Value, Failure> {
    await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
}

extension PartFile {
    func openResuming(trusting trusted: TrustedLength) async throws -> UInt64 {
        try await result { openResuming(trusting: trusted, then: $0) }.get()
    }
    @discardableResult
    func append(_ bytes: [UInt8]) async throws -> UInt64 { try await result { append(bytes, then: $0) }.get().length }
    @discardableResult
    func sync() async throws -> UInt64 { try await result { sync(then: $0) }.get().length }
    func seal(_ last: [UInt8] = [], expected size: UInt64? = nil) async throws -> FinishIntent {
        try await sealed(last, expected: size).intent
    }
    func sealed(_ last: [UInt8] = [], expected size: UInt64? = nil) async throws -> SealedFile {
        try await result { seal(last, expected: size, then: $0) }.get()
    }
    @discardableResult
    func place(_ intent: FinishIntent) async throws -> FileStamp {
        try await result { place(intent, then: $0) }.get()
    }
    func inspect(for intent: FinishIntent) async throws -> Placement {
        try await result { inspect(for: intent, then: $0) }.get()
    }
    func discard() async throws { try await result { discard(then: $0) }.get() }
}

/// Returns the status of the failure that the body throws.
func status(_ body: () async throws -> Void) async -> Status? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? Failure)?.status
    }
}

/// Returns bytes with a counter at every 4,093rd position, so that misplaced slices are found.
func pattern(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0x55, count: count)
    for index in stride(from: 0, to: count, by: 4_093) { bytes[index] = UInt8(truncatingIfNeeded: index / 4_093) }
    return bytes
}
