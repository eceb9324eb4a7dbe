import BackhaulTransport

/// Runs `body` with a server and a transfer client, which sends requests to the server. The server calls `serve` for
/// each connection.
func withServer(
    _ serve: @escaping @Sendable (RawServer.Connection) -> Void,
    _ body: (RawServer, TransferClient) async throws -> Void
) async throws {
    let server = try RawServer(serve)
    let transferClient = try TransferClient()
    defer {
        transferClient.close()
        server.close()
    }
    try await body(server, transferClient)
}

/// Fetches from a server that sends this text as the response, and then closes the connection.
func fetch(from response: String...) async throws -> TransferRecord {
    let server = try RawServer { connection in
        _ = connection.readRequest()
        for part in response { connection.send(part) }
    }
    let transferClient = try TransferClient()
    defer {
        transferClient.close()
        server.close()
    }
    return await transferClient.fetch(server.url)
}

/// Runs `body` with an nginx that serves the files, and with a transfer client.
func withNginx(_ files: [String: [UInt8]], _ body: (Nginx, TransferClient) async throws -> Void) async throws {
    let nginx = try Nginx(files: files)
    let transferClient = try TransferClient()
    defer {
        transferClient.close()
        nginx.stop()
    }
    try await body(nginx, transferClient)
}

/// Returns pseudorandom bytes. In such bytes, a test finds each shifted or repeated chunk.
func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}
