import BackhaulModel
import Glibc
import Testing

@testable import BackhaulTransport

@Suite("Where the credentials of S3 are from")
final class S3CredentialCacheTests {
    let client: TransferClient
    /// While this file exists, the command of `hanging` does not end.
    let gate: String

    init() throws {
        var template = Array("/var/tmp/backhaul-s3-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        close(file)
        gate = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        client = try TransferClient()
    }

    deinit {
        unlink(gate)
        client.close()
    }

    private func settings(_ command: String, region: Int = 0) -> S3Settings {
        var settings = S3Settings()
        settings.credentialCommand = command
        settings.region = "region-\(region)"
        return settings
    }

    private func hanging(region: Int) -> S3Settings {
        settings("while [ -e \(gate) ]; do sleep 0.1; done", region: region)
    }

    private var printing: S3Settings { settings(#"printf '{"AccessKeyId":"a","SecretAccessKey":"s"}'"#) }

    /// Obtains credentials for all settings at the same time. Returns the access key or the failure that comes first.
    private func first(of all: [S3Settings]) async -> Result<String, Failure> {
        await client.event { context, done in
            do throws(Failure) {
                for settings in all {
                    try context.transport.s3.obtain(settings) { found in
                        done(found.map { $0.credentials.accessKey })
                    }
                }
            } catch {
                done(.failure(error))
            }
        }
    }

    @Test("a command that does not end delays no other command")
    func hangingCommand() async throws {
        let result = await first(of: [hanging(region: 1), printing])
        #expect(try result.get() == "a")
    }

    @Test("while the largest number of commands run, a further command waits until one of them has ended")
    func manyHangingCommands() async throws {
        let all = (1...S3CredentialCache.commandLimit).map { hanging(region: $0) }
        let (keys, printed) = AsyncStream<String?>.makeStream()
        let last = printing
        let _: Bool = await client.event { context, done in
            for settings in all { try? context.transport.s3.obtain(settings) { _ in } }
            try? context.transport.s3.obtain(last) { found in
                printed.yield(try? found.get().credentials.accessKey)
                printed.finish()
            }
            done(true)
        }
        var queued = 0
        while queued == 0 { queued = await client.event { context, done in done(context.transport.s3.queuedCommands) } }
        unlink(gate)
        let key = await keys.first { _ in true }
        #expect(key == "a")
    }

    @Test(
        "a server that sends bytes without an end has no credentials: the fetch ends at a time and at a size",
        arguments: [("x", 50), (String(repeating: "x", count: 1 << 10), 3_600_000)] as [(String, Int64)])
    func endlessResponse(_ part: String, _ milliseconds: Int64) async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send(part) {}
        }
        defer { server.close() }
        let url = server.url
        let key: String? = await client.event { context, done in
            let fetch = S3CredentialFetch(container: url, nil, context.transport) { done($0?.accessKey) }
            fetch.limitMilliseconds = milliseconds
            context.kept.append(fetch)
            fetch.start()
        }
        #expect(key == nil)
    }
}
