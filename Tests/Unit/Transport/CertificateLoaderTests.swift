import BackhaulLoop
import Glibc
import Testing

@testable import BackhaulTransport

@Suite("The loader of certificates")
final class CertificateLoaderTests {
    /// The objects that belong to the thread of the loop.
    final class Context {
        let loader: CertificateLoader
        init(_ loop: Loop) { loader = CertificateLoader(loop) }
        deinit { loader.close() }
    }

    let thread: LoopThread<Context>
    let folder: String
    let certificate: CertificateFile
    let key: CertificateFile

    init() throws {
        var template = Array("/var/tmp/backhaul-pem-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        certificate = CertificateFile(kind: .certificate, path: folder + "/certificate.pem")
        key = CertificateFile(kind: .key, path: folder + "/key.pem")
        thread = try LoopThread(name: "certificates") { Context($0) }
    }

    deinit {
        thread.stop()
        for path in [certificate.path, key.path] { unlink(path) }
        rmdir(folder)
    }

    private func write(_ text: String, to file: CertificateFile) throws {
        let stream = try #require(fopen(file.path, "w"))
        fputs(text, stream)
        fclose(stream)
    }

    /// Returns the text that a request gets, which began to wait for its files at `time`.
    private func text(of file: CertificateFile, since time: Int64 = .max) async -> String? {
        await withCheckedContinuation { continuation in
            thread.post { context in
                let loader = context.loader
                do {
                    let found = try loader.obtain(file, since: time) { _ in
                        let found = try? loader.obtain(file, since: time) { _ in }
                        continuation.resume(returning: Self.text(found))
                    }
                    if let found { continuation.resume(returning: Self.text(found)) }
                } catch {
                    continuation.resume(returning: nil)
                }
            }
        }
    }

    private static func text(_ found: Certificates?) -> String? {
        guard case .text(let bytes) = found?.content else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("with a new certificate, a request gets the new key, although the old key was checked a moment ago")
    func renewal() async throws {
        try write("key", to: key)
        #expect(await text(of: key) == "key")
        try write("renewed key", to: key)
        try write("renewed certificate", to: certificate)
        #expect(await text(of: certificate) == "renewed certificate")
        #expect(await text(of: key) == "renewed key")
    }

    @Test("a file is not checked again for a request that has waited for another file since the check")
    func slowChecks() async throws {
        try write("key", to: key)
        #expect(await text(of: key, since: 0) == "key")
        try write("renewed key", to: key)
        try await Task.sleep(for: .milliseconds(1_100))
        #expect(await text(of: key, since: 0) == "key")
        #expect(await text(of: key) == "renewed key")
    }
}
