import BackhaulPlatform
import CLinux
import Glibc

/// Runs nginx on free ports of loopback, with its own folder and a certificate of a test authority. When the process
/// that started nginx ends or crashes, nginx ends, too.
final class Nginx: Sendable {
    static let program: String? = ["/usr/sbin/nginx", "/usr/bin/nginx"].first { (path: String) in
        access(path, X_OK) == 0
    }
    static var isInstalled: Bool { program != nil }

    let folder: String
    let port: UInt16
    let tlsPort: UInt16
    private let server: Shell

    var url: String { "http://127.0.0.1:\(port)" }
    /// The server at this URL also supports HTTP/2.
    var tlsURL: String { "https://127.0.0.1:\(tlsPort)" }
    var caFile: String { folder + "/ca.pem" }

    enum NginxError: Error { case noFolder, noCertificates, doesNotStart }

    /// `files`: the names and contents of the served files. Under /slow/, nginx serves the same files at 100 KB per
    /// second.
    init(files: [String: [UInt8]]) throws {
        var template = Array("/tmp/backhaul-nginx-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw NginxError.noFolder }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        mkdir(folder + "/files", 0o755)
        for (name, bytes) in files { Nginx.write(bytes, to: "\(folder)/files/\(name)") }
        guard Shell.run(Nginx.certificates, [folder]) else { throw NginxError.noCertificates }
        (server, port, tlsPort) = try Nginx.start(folder)
    }

    /// The script ends when nginx ends, and nginx ends when the script's standard input ends.
    private static let script = #"""
        exec 3<&0
        "$0" -p "$1" -c nginx.conf -e "$1/error.log" 3<&- &
        nginx=$!
        { cat; kill -KILL $nginx; } <&3 &
        exec 3<&-
        wait $nginx
        """#

    /// Starts nginx. Another process may take a port before nginx, so several ports are tried.
    private static func start(_ folder: String) throws -> (Shell, UInt16, UInt16) {
        for _ in 0..<20 {
            let (port, tlsPort) = freePorts()
            write(Array(configuration(folder, port, tlsPort).utf8), to: folder + "/nginx.conf")
            let server = try Shell(script, [program ?? "nginx", folder])
            if listens(server, folder) { return (server, port, tlsPort) }
            server.end()
        }
        throw NginxError.doesNotStart
    }

    /// Waits until nginx has written its process id. From then on, nginx listens. Returns false if nginx has exited. A
    /// successful connection would be no proof, because another server can have the port.
    private static func listens(_ server: Shell, _ folder: String) -> Bool {
        while access(folder + "/nginx.pid", F_OK) != 0 {
            guard server.isRunning else { return false }
            usleep(2_000)
        }
        return true
    }

    func stop() {
        server.end()
        _ = Shell.run(#"rm -rf "$0""#, [folder])
    }

    private static func configuration(_ folder: String, _ port: UInt16, _ tlsPort: UInt16) -> String {
        """
        \(getuid() == 0 ? "user root;" : "")
        daemon off;
        master_process off;
        pid \(folder)/nginx.pid;
        events { worker_connections 2048; }
        http {
            access_log off;
            client_body_temp_path \(folder)/body;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            sendfile on;
            server {
                listen 127.0.0.1:\(port) backlog=2048;
                listen 127.0.0.1:\(tlsPort) ssl http2 backlog=2048;
                # The certificate has no name for this address.
                listen 127.0.0.2:\(tlsPort) ssl http2;
                ssl_certificate \(folder)/server.pem;
                ssl_certificate_key \(folder)/server.key;
                location / { alias \(folder)/files/; }
                location /slow/ { alias \(folder)/files/; limit_rate 100k; }
                location /down { return 302 http://127.0.0.1:\(port)/small; }
            }
        }
        """
    }

    private static let certificates = #"""
        cd "$0" && export RANDFILE=.rnd
        key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        openssl req -x509 $key -days 2 -subj "/CN=Test authority" -keyout ca.key -out ca.pem &&
        openssl req $key -subj "/CN=localhost" -keyout server.key -out server.csr &&
        printf 'subjectAltName=IP:127.0.0.1,DNS:localhost' > names &&
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names \
            -out server.pem
        """#

    private static func write(_ bytes: [UInt8], to path: String) {
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        close(number)
    }

    /// Returns two ports that were free a moment ago.
    private static func freePorts() -> (UInt16, UInt16) {
        withSocket { number, address, size in
            let first = port(number, address, size)
            return withSocket { (first, port($0, $1, $2)) }
        }
    }

    private static func port(_ number: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ size: socklen_t) -> UInt16 {
        guard bind(number, address, size) == 0 else { return 0 }
        var size = size
        getsockname(number, address, &size)
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
    }

    private static func withSocket<Result>(
        _ body: (Int32, UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
