import BackhaulModel
import BackhaulTransport
import Testing

@Suite("A transfer")
struct PlainTransferTests {
    @Test("brings head, body and end of a response")
    func whole() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello")
        }
        let browser = try Browser()
        let record = await browser.fetch("\(server.url)/file")
        #expect(record.end == .complete)
        #expect(record.head?.status == 200)
        #expect(record.head?.finalURL == "\(server.url)/file")
        #expect(record.head?.value("etag") == "\"a\"")
        #expect(record.head?.isHTTP2 == false)
        #expect(record.text == "hello")
        #expect(record.heads == 1 && record.ends == 1)
        browser.close()
        server.close()
    }
}
