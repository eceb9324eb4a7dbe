import Foundation

/// Python's own file server on a free port of loopback, and a folder that it serves; both end with this object.
final class Server: Sendable {
    let folder: URL
    private let process = Process()
    private let input = Pipe()
    let port: Int

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("backhaul-\(UUID().uuidString)")
        let served = folder.appendingPathComponent("served")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: true)
        let script = """
            import functools, http.server, os, sys, threading, time
            class Handler(http.server.SimpleHTTPRequestHandler):
                protocol_version = "HTTP/1.1"
                def log_message(self, *arguments): pass
                def do_GET(self):
                    if not self.path.startswith("/slow"): return super().do_GET()
                    self.send_response(200)
                    self.send_header("Content-Length", "1000000000")
                    self.end_headers()
                    try:
                        while True:
                            self.wfile.write(b"x" * 1024)
                            time.sleep(0.05)
                    except OSError:
                        self.close_connection = True
            handler = functools.partial(Handler, directory=sys.argv[1])
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
            print(server.server_address[1], flush=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            sys.stdin.read()  # ends with the tests, however they end
            os._exit(0)
            """
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, served.path]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        self.port = port
    }

    deinit {
        try? input.fileHandleForWriting.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Serves this content under the name and gives its URL.
    func serve(_ name: String, _ content: Data) throws -> String {
        try content.write(to: folder.appendingPathComponent("served").appendingPathComponent(name))
        return url(name)
    }

    func url(_ name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }

    /// Where a test may put a file or a store.
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}

/// Bytes that differ from place to place.
func content(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    return Data(
        (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        })
}
