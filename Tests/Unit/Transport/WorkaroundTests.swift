import Testing

@testable import BackhaulTransport

@Suite("Work-arounds for faults of libcurl")
struct WorkaroundTests {
    @Test("a work-around is active only in versions before the one without the fault")
    func versions() {
        #expect(Workaround.lingeringHeaders.isActive(in: 0x080100))
        #expect(!Workaround.lingeringHeaders.isActive(in: 0x080101))
        #expect(!Workaround.plainHTTP2Reuse.isActive(in: 0x080E01))
        #expect(Workaround.droppedExcess.isActive(in: 0x081500))
    }

    @Test("this libcurl reports bytes after a response, so the connection of such a response is closed")
    func excess() {
        #expect(DroppedExcess.isNoticed)
    }

    @Test(
        "the test of libcurl's reports finds a libcurl that reuses the connection",
        arguments: [
            "Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ])
    func noExcess(fields: String) {
        #expect(!ExcessProbe.closesConnection(after: "HTTP/1.1 200 OK\r\n\(fields)"))
    }
}
