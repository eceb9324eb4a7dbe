import Foundation

/// An HTTP server for tests, with its folder. The server is written in Python, and uses a free port of the loopback
/// interface. When this object is freed, the server is stopped and the folder is removed.
public final class Server: Sendable {
    public let folder: URL
    private let process: pid_t
    public let port: Int

    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("backhaul-\(UUID().uuidString)")
        let served = folder.appendingPathComponent("served")
        try FileManager.default.createDirectory(at: served, withIntermediateDirectories: true)
        let script = """
            import functools, gzip, http.server, os, sys, threading, time
            class Handler(http.server.SimpleHTTPRequestHandler):
                protocol_version = "HTTP/1.1"
                def log_message(self, *arguments): pass
                def is_known(self):
                    return self.headers["Authorization"] in ("Basic ZXZlOm9wZW5zZXNhbWU=", "Bearer key")
                def is_signed(self):
                    signature = self.headers["Authorization"] or ""
                    return signature.startswith("AWS4-HMAC-SHA256 Credential=key/") and "/here/s3/" in signature
                def ask(self, realm="cellar"):
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", f'Basic realm="{realm}"')
                    self.send_header("WWW-Authenticate", f'Bearer realm="{realm}"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                def redirect(self):
                    _, _, status, target = self.path.split("/", 3)
                    # The body is read, so that the connection can be used again.
                    self.rfile.read(int(self.headers["Content-Length"] or 0))
                    self.send_response(int(status))
                    self.send_header("Location", "/" + target)
                    self.send_header("Set-Cookie", "way=redirect; Max-Age=1000; Path=/")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                def receive(self):
                    if self.path.startswith("/redirect/"): return self.redirect()
                    body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                    if self.path == "/in/secret" and not self.is_known(): return self.ask()
                    if self.path.startswith("/bucket/") and not self.is_signed(): return self.ask()
                    status = 507 if self.path == "/full" else 201
                    response = f"{self.command} {self.path} {self.headers['Content-Type']}\\n".encode() + body[:1000]
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(response)))
                    self.end_headers()
                    self.wfile.write(response)
                do_PUT = do_POST = do_PATCH = do_DELETE = receive
                def do_GET(self):
                    if self.path.startswith("/redirect/"): return self.redirect()
                    if self.path.startswith("/in/"): return self.receive()
                    if self.path.startswith("/status/"):
                        self.send_response(int(self.path.removeprefix("/status/")))
                        self.send_header("Content-Length", "4")
                        self.end_headers()
                        return self.wfile.write(b"page")
                    if self.path == "/gzip":
                        body = gzip.compress(b"Hello World!")
                        self.send_response(200)
                        self.send_header("Content-Length", str(len(body)))
                        self.send_header("Content-Encoding", "gzip")
                        self.end_headers()
                        return self.wfile.write(body)
                    if self.path == "/nowhere":
                        self.send_response(302)
                        self.send_header("Location", "http://127.0.0.1:1/")
                        self.send_header("Content-Length", "0")
                        return self.end_headers()
                    if self.path == "/never": return self.rfile.read(1)
                    if self.path.startswith("/secret/"):
                        if not self.is_known(): return self.ask()
                        self.path = self.path.removeprefix("/secret")
                    if self.path.startswith("/attic/"):
                        if not self.is_known(): return self.ask("attic")
                        self.path = self.path.removeprefix("/attic")
                    if self.path == "/headers":
                        text = "".join(f"{name}: {value}\\n" for name, value in self.headers.items()).encode()
                        self.send_response(200)
                        self.send_header("Content-Length", str(len(text)))
                        self.send_header("Content-Type", "text/plain")
                        self.send_header("X-Own", "one")
                        self.send_header("x-own", "two")
                        self.end_headers()
                        return self.wfile.write(text)
                    if self.path.startswith("/halves/"):
                        whole = b"0123456789" * 20000
                        asked = self.headers["Range"]
                        first = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
                        self.send_response(206 if asked else 200)
                        self.send_header("ETag", '"halves"')
                        self.send_header("Content-Length", str(len(whole) - first))
                        if asked: self.send_header("Content-Range", f"bytes {first}-{len(whole) - 1}/{len(whole)}")
                        self.end_headers()
                        self.wfile.write(whole[first:] if asked else whole[:len(whole) // 2])
                        # The second half is sent only for a range request.
                        if not asked: self.rfile.read(1)
                        return
                    if self.path == "/changing" and not self.headers["Range"]:
                        self.send_response(200)
                        self.send_header("ETag", '"first"')
                        self.send_header("Content-Length", "200000")
                        self.end_headers()
                        self.wfile.write(b"x" * 100000)
                        return self.rfile.read(1)
                    # A range request for "/changing" gets another file from its start.
                    if not self.path.startswith(("/slow", "/changing")): return super().do_GET()
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
            def end_with_the_tests(parent=os.getppid()):
                while os.getppid() == parent: time.sleep(0.5)
                os._exit(0)
            threading.Thread(target=end_with_the_tests, daemon=True).start()
            server.serve_forever()
            """
        (process, port) = try Server.start(script, served.path)
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts the script, and reads the port that it prints. The function uses posix_spawn, because Foundation's
    /// `Process` may wait forever if many processes are started at the same time.
    private static func start(_ script: String, _ served: String) throws -> (process: pid_t, port: Int) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw CocoaError(.fileReadUnknown) }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        let words: [String] = ["python3", "-c", script, served]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawnp(&process, "python3", &actions, nil, &arguments, environ)
        close(ends[1])
        guard code == 0 else { throw CocoaError(.executableLoad) }
        var line = ""
        var byte: UInt8 = 0
        while read(ends[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(Character(UnicodeScalar(byte))) }
        guard let port = Int(line) else {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            throw CocoaError(.fileReadCorruptFile)
        }
        return (process, port)
    }

    /// Makes the server send this content under the name, and returns the content's URL.
    public func serve(_ name: String, _ content: Data) throws -> String {
        // The file is written atomically, because several cases of one test may write the same file at the same time.
        try content.write(to: folder.appendingPathComponent("served").appendingPathComponent(name), options: .atomic)
        return url(name)
    }

    public func url(_ name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }

    /// Returns a path in the server's folder, for a file or a store of a test.
    public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}

/// Returns pseudo-random bytes. With such content, a test detects bytes at a wrong offset.
public func content(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    return Data(
        (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        })
}
