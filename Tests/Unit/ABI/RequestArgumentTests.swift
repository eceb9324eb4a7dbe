import BackhaulModel
import CBackhaul
import Foundation
import Testing

@testable import BackhaulABI

/// The host passes a request (the description of an upload or download) to the library. The library sends the request
/// to the engine, which performs the request. The tests in C cannot see this.
@Suite("A request of the host")
final class RequestArgumentTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    private var texts: [UnsafeMutablePointer<CChar>] = []

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false) }

    deinit {
        try? FileManager.default.removeItem(at: folder)
        for text in texts { free(text) }
    }

    private func text(_ string: String) -> UnsafePointer<CChar>? {
        guard let copy = strdup(string) else { return nil }
        texts.append(copy)
        return UnsafePointer(copy)
    }

    private func read(_ change: (inout bh_request) -> Void = { _ in }) throws(Failure) -> Request {
        var request = bh_request()
        request.struct_size = MemoryLayout<bh_request>.size
        request.url = text("https://example.org/1")
        change(&request)
        return try RequestArgument.read(&request, count: 1)[0]
    }

    @Test("the library reads each field of a host's request")
    func fields() throws {
        let path = folder.appending(path: "file").path
        var headers = [
            bh_header(name: text("Accept"), value: text("*/*")), bh_header(name: text("X"), value: text("")),
        ]
        var data: [UInt8] = [0, 1, 255]
        let request = try headers.withUnsafeMutableBufferPointer { headers in
            try data.withUnsafeMutableBufferPointer { data in
                try read { given in
                    given.destination = text(path)
                    given.idempotency_key = text("key")
                    given.headers = UnsafePointer(headers.baseAddress)
                    given.header_count = 2
                    given.user_data = UnsafeRawPointer(data.baseAddress)
                    given.user_data_size = 3
                    given.if_exists = Int32(BH_IF_EXISTS_REPLACE)
                    given.priority = -100
                    given.flags = UInt32(BH_REQUEST_STARTS_SUSPENDED)
                    given.mode = 0o600
                }
            }
        }
        #expect(request.url == "https://example.org/1" && request.idempotencyKey == "key")
        #expect(request.headers == [HeaderField("Accept", "*/*"), HeaderField("X", "")])
        #expect(request.userData == [0, 1, 255] && request.ifExists == .replace && request.priority == -100)
        #expect(request.startsSuspended && request.mode == 0o600)
        #expect(request.destination?.path == path && request.destination?.directoryInode != 0)
    }

    @Test("a request with only a URL has the defaults, and its file mode is 0666 without the umask's bits")
    func defaults() throws {
        let request = try read()
        var expected = Request(url: "https://example.org/1")
        expected.mode = .default(umask: FileCreationMask.current())
        #expect(request == expected)
    }

    @Test("a request without an idempotency key is refused if its destination file exists")
    func existing() throws {
        let path = folder.appending(path: "there").path
        try Data().write(to: URL(filePath: path))
        let failure = failure { () throws(Failure) in try read { $0.destination = text(path) } }
        #expect(failure?.status == .destinationExists && failure?.index == 0)
    }

    @Test("a request with an idempotency key is accepted even if its destination file exists")
    func existingWithKey() throws {
        let path = folder.appending(path: "there").path
        try Data().write(to: URL(filePath: path))
        let request = try read {
            $0.destination = text(path)
            $0.idempotency_key = text("key")
        }
        #expect(request.ifExists == .fail && request.destination?.path == path)
    }

    @Test("if a request's destination folder does not exist, the error has the index of the request")
    func noFolder() {
        let failure = failure { () throws(Failure) in try read { $0.destination = text("/no/such/folder/file") } }
        #expect(failure?.status == .destinationUnavailable && failure?.index == 0)
    }

    @Test("a request with an idempotency key is accepted even if its destination folder does not exist")
    func noFolderWithKey() throws {
        let request = try read {
            $0.destination = text("/no/such/folder/file")
            $0.idempotency_key = text("key")
        }
        #expect(request.destination?.isDirectoryAbsent == true)
    }
}
