import BackhaulModel
import BackhaulPlatform
import BackhaulTransport
import CLinux
import Glibc
import TestSupport
import Testing

/// A *host* is a program that embeds the library. Each test runs in a separate process, whose descriptors are closed
/// during a transfer.
@Suite("A host that closes descriptors during a transfer")
struct ClosedDescriptorTests {
    @Test("if the host closes all descriptors, the process does not abort, and the host's new sockets receive nothing")
    func all() async {
        await #expect(processExitsWith: .success) {
            let runners = await InheritedDescriptors()
            let server = try RawServer { connection in
                _ = connection.readRequest()
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                // This thread never returns. If it returned, the server would close a descriptor number that the server
                // does not own any more.
                while true { sleep(60) }
            }
            let broken = Lock(false)
            let transferClient = try TransferClient { client in
                client.transport.close()
                broken.change { $0 = true }
            }
            let recorded: Int = await transferClient.event { [url = server.url] client, done in
                let recorder = RecordingDelegate()
                client.kept.append(recorder)
                recorder.onBytes = { _ in
                    done(recorder.record.chunks)
                    return .go
                }
                recorder.transfer = try? client.transport.start(request(url), recorder)
            }
            runners.closeOthers()
            // The host opens sockets with the closed numbers. If the library still sent a byte to a closed number, the
            // byte would arrive at one of these sockets.
            var ends: [[Int32]] = []
            for _ in 0..<20 {
                var pair: [Int32] = [-1, -1]
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
                ends.append(pair)
            }
            _ = broken.wait(until: nil) { $0 ? true : nil }
            let refused: Bool = await transferClient.event { client, done in
                do throws(Failure) {
                    _ = try client.transport.start(request("http://127.0.0.1:1/"), RecordingDelegate())
                    done(false)
                } catch {
                    done(true)
                }
            }
            transferClient.close()
            for end in ends.joined() {
                var byte: UInt8 = 0
                guard recv(end, &byte, 1, Int32(MSG_DONTWAIT)) == -1, errno == EAGAIN else {
                    exit(EXIT_FAILURE)
                }
            }
            exit(refused && recorded == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test("if the host closes a socket, its transfer fails with `connectionLost`; the next transfer succeeds")
    func one() async {
        await #expect(processExitsWith: .success) {
            let requests = Lock(0)
            let server = try RawServer { connection in
                _ = connection.readRequest()
                let isFirst: Bool = requests.withLock { count in
                    count += 1
                    return count == 1
                }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                if isFirst { connection.waitForEnd() } else { connection.send(" whole") }
            }
            let transferClient = try TransferClient()
            let port = server.port
            let first = await transferClient.fetch(request(server.url)) { recorder, _ in
                recorder.onBytes = { _ in
                    for number in Int32(3)...1023 where peerPort(of: number) == port { close(number) }
                    return .go
                }
            }
            let second = await transferClient.fetch(server.url)
            transferClient.close()
            let isRight = first.failure?.status == .connectionLost && first.isTransient == true
            exit(isRight && second.end == .complete && second.text == "half whole" ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}

/// Returns the port to which a TCP socket is connected, or nil.
private func peerPort(of number: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &size) }
    }
    return result == 0 && address.sin_family == AF_INET ? UInt16(bigEndian: address.sin_port) : nil
}
