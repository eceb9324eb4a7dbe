internal import CLinux
internal import Glibc

/// The process at the other end of a socket, as the kernel reports it (unix(7), SO_PEERCRED).
public struct PeerCredential: Equatable, Sendable {
    public let processID: Int32
    public let userID: UInt32
    public var isSameUser: Bool { userID == geteuid() }
}

/// A listening Unix stream socket in a directory. An address has about 100 bytes at most, and the path of a directory
/// may be longer. So the socket's address contains the descriptor of the directory instead of the path.
public final class UnixListener: Sendable {
    private let descriptor: Descriptor
    private let directory: Descriptor
    private let name: String
    private let file: FileIdentity?
    public var number: Int32 { descriptor.number }

    /// Makes the socket. Replaces a socket, a file or a link that has the same name. Only one process at a time has the
    /// lock of the directory, and now the caller has this lock. So the replaced file is from an earlier process and not
    /// in use. Throws EADDRINUSE if a directory has the name.
    public init(name: String, in directory: Descriptor) throws(SystemError) {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { throw SystemError.last("cannot make a socket") }
        descriptor = Descriptor(owning: number, closesOnFork: true)
        self.directory = directory
        self.name = name
        unlinkat(directory.number, name, 0)
        var address = try UnixAddress.make(name, in: directory)
        guard UnixAddress.with(&address, { bind(number, $0, $1) }) == 0,
            // Other users cannot enter the directory. The socket's mode is a second protection.
            fchmodat(directory.number, name, 0o600, 0) == 0, listen(number, 128) == 0
        else { throw SystemError.last("cannot listen on the socket \(name)") }
        file = FileIdentity(named: name, in: directory)
    }

    /// Makes the socket at an absolute path that the user has chosen. Replaces a socket that no process serves. Throws
    /// EADDRINUSE if a process serves the socket, and EEXIST if the path has a file of another kind.
    public convenience init(path: String) throws(SystemError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let name = String(path[slash...].dropFirst())
        let number = bhl_open(String(path[...slash]), O_RDONLY | O_DIRECTORY, 0)
        guard number >= 0 else { throw SystemError.last("cannot open the directory of \(path)") }
        let directory = Descriptor(owning: number)
        if let code = Self.occupation(of: name, in: directory) {
            throw SystemError(code: code, messageStart: "cannot make the socket \(path)")
        }
        try self.init(name: name, in: directory)
    }

    /// Why a socket at this name may not be replaced. Nil if nothing is there, or a socket that no process serves.
    private static func occupation(of name: String, in directory: Descriptor) -> Int32? {
        var status = stat()
        guard fstatat(directory.number, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return EEXIST }
        do throws(SystemError) {
            _ = try UnixStream.connect(name: name, in: directory)
            return EADDRINUSE
        } catch {
            return error.code == ECONNREFUSED ? nil : error.code
        }
    }

    /// Whether the file of the socket still exists. False if another process has removed or replaced the file. While
    /// this socket is open, the kernel does not give the inode of the file to another file.
    public var isLinked: Bool { file != nil && FileIdentity(named: name, in: directory) == file }

    public enum AcceptResult: Sendable {
        case stream(UnixStream)
        case wouldBlock
        /// A client waits, but there is no descriptor or no memory for its connection.
        case exhausted
    }

    public func accept() -> AcceptResult { Self.accept(descriptor.number) }

    static func accept(_ listener: Int32) -> AcceptResult {
        let number = bhl_accept(listener)
        if number >= 0 { return .stream(UnixStream(owning: number)) }
        switch bhl_errno() {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
        default: return .wouldBlock
        }
    }

    /// Removes the file of the socket, but not a file that has replaced it.
    public func remove() { if isLinked { unlinkat(directory.number, name, 0) } }
}

/// A connected, non-blocking Unix stream socket.
public final class UnixStream: Sendable {
    private let descriptor: Descriptor
    public var number: Int32 { descriptor.number }

    init(owning number: Int32) { descriptor = Descriptor(owning: number, closesOnFork: true) }

    public static func connect(name: String, in directory: Descriptor) throws(SystemError) -> UnixStream {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { throw SystemError.last("cannot make a socket") }
        let stream = UnixStream(owning: number)
        var address = try UnixAddress.make(name, in: directory)
        guard UnixAddress.with(&address, { Glibc.connect(number, $0, $1) }) == 0 else {
            throw SystemError.last("cannot connect to the socket \(name)")
        }
        return stream
    }

    public var peer: PeerCredential? {
        var credential = bhl_peer()
        guard bhl_peer_credential(descriptor.number, &credential) == 0 else { return nil }
        return PeerCredential(processID: credential.pid, userID: credential.uid)
    }

    public enum ReadResult: Sendable {
        case bytes([UInt8])
        case wouldBlock
        case closed
    }

    /// Reads the available bytes, up to 64 KiB. Returns `closed` if the peer has closed the connection, or after an
    /// error.
    public func read() -> ReadResult {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, filled in
            count = recv(descriptor.number, buffer.baseAddress, buffer.count, 0)
            filled = max(0, count)
        }
        if count > 0 { return .bytes(bytes) }
        return count < 0 && Self.isWouldBlock(bhl_errno()) ? .wouldBlock : .closed
    }

    public enum WriteResult: Equatable, Sendable {
        case written(Int)
        case wouldBlock
        case closed
    }

    /// Writes as many bytes as the socket has space for, without a wait. `closed`: as in `read`.
    public func write(_ bytes: [UInt8], from start: Int) -> WriteResult {
        let count = bytes.withUnsafeBytes { buffer in
            send(descriptor.number, buffer.baseAddress.map { $0 + start }, buffer.count - start, Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return .written(count) }
        return Self.isWouldBlock(bhl_errno()) ? .wouldBlock : .closed
    }

    /// Notifies the peer that no more bytes follow.
    public func endWriting() { shutdown(descriptor.number, Int32(SHUT_WR)) }

    /// Waits until there are bytes to read, `wake` is set, or the deadline has passed. If `forWriting` is true, the
    /// call also returns when there is space to write. Clears `wake` if it is set.
    public func wait(forWriting: Bool, orSet wake: EventFD, until deadline: Deadline?) {
        var items = [
            pollfd(fd: descriptor.number, events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0),
            pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
        ]
        poll(&items, 2, deadline.map { Int32(clamping: $0.millisecondsLeft) } ?? -1)
        if items[1].revents != 0 { wake.clear() }
    }

    private static func isWouldBlock(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK || code == EINTR }
}

enum UnixAddress {
    static func make(_ name: String, in directory: Descriptor) throws(SystemError) -> sockaddr_un {
        try make(path: "/proc/self/fd/\(directory.number)/\(name)", name)
    }

    static func make(path: String, _ name: String) throws(SystemError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.utf8.count < room.count else { return false }
            room.copyBytes(from: path.utf8)
            if path.hasPrefix("@") { room[0] = 0 }
            return true
        }
        guard fits else { throw SystemError(code: ENAMETOOLONG, messageStart: "cannot name the socket \(name)") }
        return address
    }

    // Unsafe: bind and connect take addresses of all kinds as a pointer to `sockaddr`, their common beginning.
    static func with(_ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        // An abstract name (unix(7)) begins with a zero byte, and has no zero byte at its end. So the address must have
        // the exact length of the name.
        let nameLength = withUnsafeBytes(of: &address.sun_path) { name in
            name.first == 0 ? 1 + name.dropFirst().prefix { $0 != 0 }.count : name.count
        }
        let length = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + nameLength)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
