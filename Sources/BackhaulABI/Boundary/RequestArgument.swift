internal import BackhaulClient
internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host promises that its requests, and all they point to, can be read until the call returns; all of it is
// read and copied here.

/// An array of `bh_request`, read where it lies.
struct RequestArray {
    private static let firstSize = StructArgument.end(of: \bh_request.mode)

    let count: Int
    private let first: UnsafeRawPointer?
    private let stride: Int
    private var reader = RequestReader()

    /// The distance of two requests is the struct_size of the first.
    init(_ requests: UnsafePointer<bh_request>?, count: Int) throws(Failure) {
        self.count = try NumberArgument.count(count, "count", in: 0...Limits.enqueueCount)
        first = count > 0 ? UnsafeRawPointer(try NumberArgument.required(requests, "requests")) : nil
        stride = first?.loadUnaligned(as: Int.self) ?? 0
        guard count > 1 else { return }
        do throws(Failure) {
            try StructArgument.check(
                stride, "requests[0]", firstSize: Self.firstSize, ownSize: MemoryLayout<bh_request>.size)
        } catch var failure {
            failure.index = 0
            throw failure
        }
    }

    /// A copy of one request. A failure carries its index. `isChecked`: it was looked at before in this call.
    mutating func request(at index: Int, isChecked: Bool) throws(Failure) -> Request {
        guard let first, (0..<count).contains(index) else {
            throw Failure(.internal, "there is no request \(index); please report it")
        }
        do throws(Failure) {
            if index > 0 { try StructArgument.checkSame(first + index * stride, "the request", stride) }
            let request = try StructArgument.read(
                first + index * stride, "the request", into: bh_request(), firstSize: Self.firstSize,
                room: count > 1 ? stride : StructArgument.largestSize)
            return try reader.read(request, isChecked: isChecked)
        } catch var failure {
            failure.index = UInt64(index)
            throw failure
        }
    }

    /// Looks at all of them and keeps none.
    mutating func check() throws(Failure) {
        for index in 0..<count { _ = try request(at: index, isChecked: false) }
    }
}

enum RequestArgument {
    /// Copies and checks one that is not in an array: it is as large as it says, and errors need no index.
    static func one(_ request: UnsafePointer<bh_request>) throws(Failure) -> Request {
        var array = try RequestArray(request, count: 1)
        do throws(Failure) {
            return try array.request(at: 0, isChecked: false)
        } catch var failure {
            failure.index = nil
            throw failure
        }
    }

    /// Copies and checks the whole array.
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

/// Copies requests of one call, which share what is looked up once: the umask and the destinations' directories.
private struct RequestReader {
    private var intake = RequestIntake()
    private var destinations = DestinationChecker()
    private lazy var standardMode = 0o666 & ~FileCreationMask.current()

    mutating func read(_ given: bh_request, isChecked: Bool) throws(Failure) -> Request {
        var request = Request(url: try TextArgument.required(given.url, "url", limit: Limits.urlSize))
        request.idempotencyKey = try TextArgument.optional(
            given.idempotency_key, "idempotency_key", limit: Limits.keySize)
        request.headers = try HeaderArgument.read(given.headers, given.header_count)
        request.userData = try userData(given)
        request.ifExists = try RequestArgument.policy(given.if_exists)
        request.priority = given.priority
        try RequestOptionsArgument.checkFlags(given)
        request.startsSuspended = given.flags & UInt32(BH_REQUEST_STARTS_SUSPENDED) != 0
        request.mode = given.mode == 0 ? standardMode : given.mode
        if RequestOptionsArgument.isNeeded(given) { request.options = try RequestOptionsArgument.read(given) }
        let path = try TextArgument.optional(given.destination, "destination", limit: Limits.pathSize)
        let isDirectory = request.options.isNamedByServer
        // As far as it can be checked without a look at it.
        request.destination = path.map {
            Destination(
                path: isDirectory ? Destination.directoryPath($0) : $0, directoryDevice: 0, directoryInode: 0)
        }
        if !isChecked { try intake.check(request) }
        // Last, because it asks the file system.
        if let path {
            // What lies there may be the file of the task that has the key already.
            let policy = request.idempotencyKey == nil ? request.ifExists : .replace
            request.destination =
                isDirectory
                ? try destinations.check(directory: path) : try destinations.check(path: path, ifExists: policy)
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
