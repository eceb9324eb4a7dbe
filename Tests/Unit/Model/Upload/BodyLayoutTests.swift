import BackhaulModel
import Testing

@Suite("A request's body")
struct BodyLayoutTests {
    private func file(_ size: UInt64, _ name: String = "f") -> BodyFile {
        BodyFile(path: "/\(name)", device: 1, inode: 2, size: size, modifiedNanoseconds: 3)
    }

    private func text(_ layout: BodyLayout) -> String {
        layout.segments.map { segment in
            switch segment {
            case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
            case .file(let file): "<\(file.path)>"
            }
        }.joined()
    }

    @Test("a request body that is a file has the size of the file and no content type")
    func plainFile() {
        let layout = BodyLayout(.file(file(7), .reference), boundary: "B")
        #expect(layout.segments == [.file(file(7))])
        #expect(layout.size == 7 && layout.contentType == nil)
    }

    @Test("the body of a form has a boundary before each part and after the last part")
    func form() {
        let parts = [
            FormPart(name: "a", content: .value([0x31])),
            FormPart(name: "b", content: .file(file(5)), fileName: "x.bin", mediaType: "image/png"),
        ]
        let layout = BodyLayout(.form(parts, .reference), boundary: "B")
        #expect(layout.contentType == "multipart/form-data; boundary=B")
        #expect(
            text(layout) == "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
                + "--B\r\nContent-Disposition: form-data; name=\"b\"; filename=\"x.bin\"\r\n"
                + "Content-Type: image/png\r\n\r\n</f>\r\n--B--\r\n")
        #expect(layout.size == UInt64(text(layout).utf8.count - "</f>".utf8.count) + 5)
    }

    @Test(
        "characters that could break a header field are escaped in the names of a form",
        arguments: [
            ("a\"; x=\"", "a%22; x=%22"), ("a\r\nX: 1", "a%0D%0AX: 1"), ("ö\\", "ö\\"), ("\r\n", "%0D%0A"),
        ])
    func names(_ given: String, _ sent: String) {
        let layout = BodyLayout(.form([FormPart(name: given, content: .value([]))], .reference), boundary: "B")
        #expect(text(layout).contains("name=\"\(sent)\"\r\n\r\n"))
    }

    @Test(
        "the forms of two tasks have different boundaries and the same size, and all attempts of a task the same body")
    func boundaries() {
        let body = RequestBody.form([FormPart(name: "a", content: .value([1]))], .reference)
        func layout(_ task: UInt64) -> BodyLayout { BodyLayout(body, boundary: BodyLayout.boundary(of: task)) }
        #expect(layout(7) == layout(7) && layout(7).contentType != layout(8).contentType)
        #expect([0, 1, .max].allSatisfy { layout($0).size == body.size })
        let boundary = BodyLayout.boundary(of: .max)
        #expect(boundary.utf8.count <= 70 && boundary.utf8.allSatisfy { $0 < 0x80 && $0 > 0x2F })
    }

    @Test("the size of a request body does not overflow")
    func overflow() {
        let parts = (0..<3).map { FormPart(name: "\($0)", content: .file(file(.max / 2))) }
        #expect(BodyLayout(.form(parts, .reference), boundary: "B").size == .max)
    }

    @Test("the files of a request body are listed and replaced in the order in which they are sent")
    func replacing() {
        let parts = [
            FormPart(name: "a", content: .file(file(1, "a"))), FormPart(name: "v", content: .value([1])),
            FormPart(name: "b", content: .file(file(2, "b"))),
        ]
        let body = RequestBody.form(parts, .consume)
        #expect(body.files == [file(1, "a"), file(2, "b")])
        let replaced = body.replacing([file(1, "c"), file(2, "d")])
        #expect(replaced.files.map(\.path) == ["/c", "/d"])
        #expect(replaced.source == .consume && body.replacing([]) == body)
    }
}
