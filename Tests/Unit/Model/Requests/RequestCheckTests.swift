import BackhaulModel
import Testing

/// A case of a test: a change of a valid request. `refusal` is a part of the expected error message, or nil if the
/// changed request is valid.
struct RequestRow: CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout Request) -> Void
    var refusal: String?

    init(_ description: String, refusal: String?, _ change: @escaping @Sendable (inout Request) -> Void) {
        (testDescription, self.refusal, self.change) = (description, refusal, change)
    }

    static func header(_ name: String, _ value: String, refusal: String?) -> RequestRow {
        RequestRow("\(name.prefix(40)): \(value.prefix(40).debugDescription)", refusal: refusal) {
            $0.headers = [HeaderField(name, value)]
        }
    }

    static func destination(_ path: String, refusal: String?) -> RequestRow {
        RequestRow("destination \(path.prefix(60).debugDescription)", refusal: refusal) {
            $0.destination = Destination(path: path, directoryDevice: 1, directoryInode: 2)
        }
    }

    func check() throws {
        var request = Request(url: "https://example.org/file")
        change(&request)
        guard let refusal else {
            try RequestCheck.check(request)
            return
        }
        let error = #expect(throws: Failure.self) { try RequestCheck.check(request) }
        #expect(error?.status == .invalidArgument)
        #expect(error?.message.contains(refusal) == true, "\(error?.message ?? "")")
    }
}

extension Request {
    fileprivate mutating func waits(
        for task: Dependency.Name, url: String? = nil, body: String? = nil, header: String? = nil
    ) {
        var dependency = Dependency(task)
        (dependency.url, dependency.body) = (url, body)
        if let header { dependency.headers = [HeaderField("X-Token", header)] }
        if body != nil { options.body = .bytes([]) }
        options.dependencies = [dependency]
    }

    fileprivate mutating func sends(
        _ count: UInt64?, from start: UInt64, _ source: BodySource = .reference, size: UInt64 = 100, inode: UInt64 = 2
    ) {
        let file = BodyFile(path: "/tmp/body", device: 1, inode: inode, size: size, modifiedNanoseconds: 0)
        options.body = .file(file, source)
        (options.rangeStart, options.rangeSize) = (start, count)
    }
}

private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

@Suite("The check of a request")
struct RequestCheckTests {
    @Test(
        "a request may wait for tasks and take values from places in their responses",
        arguments: [
            RequestRow("a task", refusal: nil) { $0.waits(for: .id(TaskID(rawValue: 1))) },
            RequestRow("places", refusal: nil) {
                $0.waits(for: .key("a"), url: "header:Location", body: "json:/a~1b/0/~0", header: "url")
            },
            RequestRow("no task", refusal: "no task_id") { $0.waits(for: .id(.zero)) },
            RequestRow("the own key", refusal: "of the request itself") {
                $0.idempotencyKey = "a"
                $0.waits(for: .key("a"))
            },
            RequestRow("a place that does not exist", refusal: "'cookie' is no place") {
                $0.waits(for: .key("a"), url: "cookie")
            },
            RequestRow("a header without a name", refusal: "no place") { $0.waits(for: .key("a"), url: "header:") },
            RequestRow("a wrong escape", refusal: "no place") { $0.waits(for: .key("a"), url: "json:/~2") },
            RequestRow("a pointer without a slash", refusal: "no place") { $0.waits(for: .key("a"), url: "json:a") },
            RequestRow("a reserved header", refusal: "set by the engine") {
                $0.options.dependencies = [Dependency(.key("a"))]
                $0.options.dependencies[0].headers = [HeaderField("Host", "url")]
            },
            RequestRow("two bodies", refusal: "a body of its own") {
                $0.waits(for: .key("a"), body: "body")
                $0.options.body = .bytes([1])
            },
            RequestRow("a value of a task that may fail", refusal: "may not have") {
                $0.waits(for: .key("a"), url: "url")
                $0.options.dependencies[0].ifFails = .ignore
            },
            RequestRow("two URLs", refusal: "two tasks of after give the URL") {
                $0.waits(for: .key("a"), url: "url")
                $0.options.dependencies.append($0.options.dependencies[0])
            },
            RequestRow("too many tasks", refusal: "at most 16") {
                $0.options.dependencies = Array(repeating: Dependency(.key("a")), count: 17)
            },
        ])
    func dependencies(_ row: RequestRow) throws { try row.check() }

    @Test(
        "a range selects bytes of a downloaded file or of a body's file",
        arguments: [
            RequestRow("a range", refusal: nil) { ($0.options.rangeStart, $0.options.rangeSize) = (5, 10) },
            .header("Range", "bytes=0-1", refusal: "set range_start"),
            RequestRow("a range behind the longest file", refusal: "longest possible file") {
                ($0.options.rangeStart, $0.options.rangeSize) = (UInt64(Int64.max) - 5, 6)
            },
            RequestRow("another method", refusal: "the method is HEAD") {
                ($0.options.rangeStart, $0.options.method) = (5, "HEAD")
            },
            RequestRow("another expected size", refusal: "expected_size is 9, but range_size is 10") {
                ($0.options.rangeSize, $0.options.expectedSize) = (10, 9)
            },
            RequestRow("a condition", refusal: "BH_REQUEST_IF_CHANGED is for a whole file") {
                ($0.options.rangeStart, $0.options.isOnlyIfChanged, $0.ifExists) = (5, true, .replace)
                $0.destination = Destination(path: "/tmp/a", directoryDevice: 1, directoryInode: 2)
            },
            RequestRow("a body in memory", refusal: "select bytes of") {
                ($0.options.rangeStart, $0.options.body) = (5, .bytes([1]))
            },
            RequestRow("bytes of a body's file", refusal: nil) { $0.sends(10, from: 90) },
            RequestRow("the last byte of a body's file", refusal: nil) { $0.sends(nil, from: 99) },
            RequestRow("bytes behind the end", refusal: "has 100 bytes, so it does not have the bytes 90 to 100") {
                $0.sends(11, from: 90)
            },
            RequestRow("no byte", refusal: "does not have the bytes from 100") { $0.sends(nil, from: 100) },
            RequestRow("bytes of a consumed file", refusal: "BH_BODY_CONSUME") { $0.sends(10, from: 90, .consume) },
            RequestRow("bytes of an absent file", refusal: nil) { $0.sends(10, from: 90, size: 0, inode: 0) },
        ])
    func ranges(_ row: RequestRow) throws { try row.check() }

    @Test(
        "the check of a request refuses a URL, key, user data, priority or mode outside its bounds",
        arguments: [
            RequestRow("nothing changed", refusal: nil) { _ in },
            RequestRow("an empty URL", refusal: "no URL") { $0.url = "" },
            RequestRow("the longest URL", refusal: nil) { $0.url = text(Limits.urlSize) },
            RequestRow("a longer URL", refusal: "16385") { $0.url = text(Limits.urlSize + 1) },
            RequestRow("a URL of other scripts", refusal: nil) { $0.url = "https://例え.jp/ä" },
            RequestRow("a space in the URL", refusal: "percent-encode") { $0.url = "https://a/b c" },
            RequestRow("a line break in the URL", refusal: "percent-encode") { $0.url = "https://a/b\r\nHost: c" },
            RequestRow("a NUL in the URL", refusal: "percent-encode") { $0.url = "https://a/b\u{0}" },
            RequestRow("the longest key", refusal: nil) { $0.idempotencyKey = text(255) },
            RequestRow("a longer key", refusal: "idempotency key") { $0.idempotencyKey = text(256) },
            RequestRow("a key of 128 two-byte letters", refusal: "256") {
                $0.idempotencyKey = String(repeating: "é", count: 128)
            },
            RequestRow("an empty key", refusal: "leave it out") { $0.idempotencyKey = "" },
            RequestRow("a NUL in the key", refusal: "NUL") { $0.idempotencyKey = "a\u{0}b" },
            RequestRow("the largest user data", refusal: nil) { $0.userData = .init(repeating: 0, count: 65_536) },
            RequestRow("longer user data", refusal: "user_data") { $0.userData = .init(repeating: 0, count: 65_537) },
            RequestRow("priority -100", refusal: nil) { $0.priority = -100 },
            RequestRow("priority 100", refusal: nil) { $0.priority = 100 },
            RequestRow("priority 102", refusal: "priority") { $0.priority = 102 },
            RequestRow("the lowest number as priority", refusal: "priority") { $0.priority = .min },
            RequestRow("mode 0777", refusal: nil) { $0.mode = 0o777 },
            RequestRow("mode 04755", refusal: "mode") { $0.mode = 0o4755 },
            RequestRow("the largest number as mode", refusal: "mode") { $0.mode = FileMode(.max) },
        ])
    func bounds(_ row: RequestRow) throws { try row.check() }

    @Test(
        "the check of a request refuses headers that would break the request or the connection",
        arguments: [
            .header("Authorization", "Bearer abc", refusal: nil),
            .header("X-Name", "Grüße\tund mehr", refusal: nil),
            .header("X-Empty", "", refusal: nil),
            .header("!#$%&'*+-.^_`|~09azAZ", "every token character", refusal: nil),
            .header("", "x", refusal: "token"),
            .header("A B", "x", refusal: "token"),
            .header("A:", "x", refusal: "token"),
            .header(":authority", "x", refusal: "token"),
            .header("Ä", "x", refusal: "token"),
            .header("A\r\nB", "x", refusal: "token"),
            .header("X", "a\r\nHost: b", refusal: "line break"),
            .header("X", "a\nb", refusal: "line break"),
            .header("X", "a\rb", refusal: "line break"),
            .header("X", "a\u{0}b", refusal: "control"),
            .header("X", "a\u{7F}b", refusal: "control"),
            .header("X", "a\u{1B}[0m", refusal: "control"),
            .header("Range", "bytes=0-1", refusal: "set by the engine"),
            .header("rAnGe", "bytes=0-1", refusal: "set by the engine"),
            .header("If-Range", "\"a\"", refusal: "set by the engine"),
            .header("Host", "a", refusal: "set by the engine"),
            .header("Content-Length", "1", refusal: "set by the engine"),
            .header("Transfer-Encoding", "chunked", refusal: "set by the engine"),
            .header("Connection", "close", refusal: "set by the engine"),
            .header("Accept-Encoding", "gzip", refusal: "set by the engine"),
            .header("TE", "trailers", refusal: "set by the engine"),
            .header("Upgrade", "h2c", refusal: "set by the engine"),
            .header("Expect", "100-continue", refusal: "set by the engine"),
            .header("X", text(65_535), refusal: nil),
            .header("X", text(65_536), refusal: "65537"),
            RequestRow("100 headers", refusal: nil) {
                $0.headers = .init(repeating: HeaderField("X", "y"), count: 100)
            },
            RequestRow("101 headers", refusal: "101") {
                $0.headers = .init(repeating: HeaderField("X", "y"), count: 101)
            },
        ] as [RequestRow])
    func headers(_ row: RequestRow) throws { try row.check() }

    @Test(
        "the check of a request requires the absolute path of a file as destination",
        arguments: [
            .destination("/file", refusal: nil),
            .destination("/a/../b/.hidden", refusal: nil),
            .destination("/a/...", refusal: nil),
            .destination("/" + text(4_094), refusal: nil),
            .destination("/" + text(4_095), refusal: "4096"),
            .destination("", refusal: "absolute"),
            .destination("file", refusal: "absolute"),
            .destination("./file", refusal: "absolute"),
            .destination("~/file", refusal: "absolute"),
            .destination("/", refusal: "directory"),
            .destination("/a/", refusal: "directory"),
            .destination("/a/.", refusal: "directory"),
            .destination("/a/..", refusal: "directory"),
            .destination("/a\u{0}/b", refusal: "NUL"),
        ] as [RequestRow])
    func destination(_ row: RequestRow) throws { try row.check() }
}
