internal import BackhaulDisk
internal import BackhaulEngine
internal import BackhaulModel
internal import CBackhaul
internal import Glibc

// Unsafe: the host guarantees that its requests, and all data that they point to, can be read until the call returns.
// All of it is copied here.

/// An array of `bh_request` in the host's memory. Its elements are read one by one, without a copy of the array.
struct RequestArray {
    private static let minimumSize = StructArgument.end(of: \bh_request.after_count)

    let count: Int
    private let first: UnsafeRawPointer?
    private let stride: Int
    private var reader = RequestReader()

    /// Checks the `struct_size` of the first request. This size is also the distance from each request to the next one,
    /// in bytes.
    init(_ requests: UnsafePointer<bh_request>?, count: Int) throws(Failure) {
        self.count = try NumberArgument.count(count, "count", in: 0...Limits.enqueueCount)
        first = count > 0 ? UnsafeRawPointer(try NumberArgument.required(requests, "requests")) : nil
        stride = first?.loadUnaligned(as: Int.self) ?? 0
        guard count > 1 else { return }
        do throws(Failure) {
            try StructArgument.check(
                stride, "requests[0]", minimumSize: Self.minimumSize, ownSize: MemoryLayout<bh_request>.size)
        } catch var failure {
            failure.index = 0
            throw failure
        }
    }

    /// A copy of one request. An error includes the index of the request. `isChecked`: whether the request was already
    /// checked in this call.
    mutating func request(at index: Int, isChecked: Bool) throws(Failure) -> Request {
        guard let first, (0..<count).contains(index) else {
            throw Failure(.internal, "there is no request \(index); please report it")
        }
        do throws(Failure) {
            if index > 0 { try StructArgument.checkStride(first + index * stride, "the request", stride) }
            let request = try StructArgument.read(
                first + index * stride, "the request", into: bh_request(), minimumSize: Self.minimumSize,
                available: count > 1 ? stride : StructArgument.largestSize)
            return try reader.read(request, isChecked: isChecked)
        } catch var failure {
            failure.index = UInt64(index)
            throw failure
        }
    }

    /// Checks all requests without storing them.
    mutating func check() throws(Failure) {
        for index in 0..<count { _ = try request(at: index, isChecked: false) }
    }
}

enum RequestArgument {
    /// Copies and checks a request that is not in an array. Errors have no index.
    static func readSingle(_ request: UnsafePointer<bh_request>) throws(Failure) -> Request {
        var array = try RequestArray(request, count: 1)
        do throws(Failure) {
            return try array.request(at: 0, isChecked: false)
        } catch var failure {
            failure.index = nil
            throw failure
        }
    }

    /// Copies and checks all requests of the array.
    static func read(_ requests: UnsafePointer<bh_request>?, count: Int) throws(Failure) -> [Request] {
        var array = try RequestArray(requests, count: count)
        var copies: [Request] = []
        copies.reserveCapacity(array.count)
        for index in 0..<array.count { copies.append(try array.request(at: index, isChecked: false)) }
        return copies
    }

    static func policy(_ number: Int32) throws(Failure) -> ExistsPolicy {
        try NumberArgument.value(number, "if_exists", of: "one of BH_IF_EXISTS_…")
    }
}

/// Copies the requests of one call. The umask and each directory of a destination are read only one time for all
/// requests.
private struct RequestReader {
    private var intake = RequestIntake()
    private var destinations = DestinationCheck()
    private lazy var defaultMode = FileMode.default(umask: FileCreationMask.current())

    mutating func read(_ given: bh_request, isChecked: Bool) throws(Failure) -> Request {
        var request = Request(
            url: try RequestIntake.ascii(url: TextArgument.required(given.url, "url", limit: Limits.urlSize)))
        request.idempotencyKey = try TextArgument.optional(
            given.idempotency_key, "idempotency_key", limit: Limits.keySize)
        request.headers = try HeaderArgument.read(given.headers, given.header_count)
        request.userData = try userData(given)
        request.ifExists = try RequestArgument.policy(given.if_exists)
        request.priority = given.priority
        try RequestOptionsArgument.checkFlags(given)
        request.startsSuspended = given.flags & UInt32(BH_REQUEST_STARTS_SUSPENDED) != 0
        request.mode = given.mode == 0 ? defaultMode : FileMode(given.mode)
        if RequestOptionsArgument.isNeeded(given) { request.options = try RequestOptionsArgument.read(given) }
        let path = try TextArgument.optional(given.destination, "destination", limit: Limits.pathSize)
        let isDirectory = request.options.isNamedByServer
        // This check of the destination does not use the file system.
        request.destination = path.map {
            Destination(
                path: isDirectory ? Destination.directoryPath($0) : $0, directoryDevice: 0, directoryInode: 0)
        }
        if !isChecked { try intake.check(request) }
        // The destination is checked in the file system after all other checks.
        if let path {
            // If a file exists at the destination, a request with an idempotency key (a text that marks repeated
            // requests) is not refused here. The file may belong to an earlier task with the same key. The engine,
            // which runs the tasks, checks later whether such a task exists. The same holds for a missing directory.
            let policy = request.idempotencyKey == nil ? request.ifExists : .replace
            do throws(Failure) {
                request.destination =
                    isDirectory
                    ? try destinations.check(directory: path) : try destinations.check(path: path, ifExists: policy)
            } catch {
                let isMissing = error.status == .destinationUnavailable && error.detail == Int64(ENOENT)
                guard isMissing, request.idempotencyKey != nil else { throw error }
            }
        }
        return request
    }

    private func userData(_ given: bh_request) throws(Failure) -> [UInt8]? {
        let size = try NumberArgument.count(given.user_data_size, "user_data_size", in: 0...Limits.userDataSize)
        guard let start = given.user_data else {
            guard size == 0 else {
                throw Failure(.invalidArgument, "user_data is NULL, but user_data_size is \(size)")
            }
            return nil
        }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: size))
    }
}
