import CBackhaul
import CSimulation
import Glibc

/// The request for a task, with the memory to which it points.
final class PreparedRequest {
    private(set) var request = bh_request()
    /// A body from memory has fewer bytes.
    static let memoryLimit = 500_000
    private var memory: [UnsafeMutableRawPointer] = []

    /// - keyOwner: the task whose idempotency key the request has.
    /// - path: the file that the task makes or sends.
    init(_ plan: TaskPlan, keyOwner: Int, path: String, _ library: sim_library) {
        library.`init`(&request, MemoryLayout<bh_request>.size)
        request.priority = plan.priority
        let isObject = plan.upload?.kind == .s3
        let place = isObject ? "s3://bucket" : Servers.origin(plan.resource.server)
        request.url = text("\(place)/\(plan.number)")
        request.idempotency_key = text(Self.key(keyOwner))
        request.group = plan.group.flatMap { text(History.name(ofGroup: $0)) }
        if plan.kind == .post { request.method = text("POST") }
        if let value = plan.authorization {
            request.headers = put(bh_header(name: text("Authorization"), value: text(value)))
            request.header_count = 1
        }
        if let credential = plan.credential, credential.kind == .refresh {
            request.refresh = bh_refresh(BH_REFRESH_HEADERS)
            request.expires_ms = credential.expires.map { (History.calendar + $0) / millisecond } ?? 0
        }
        if let upload = plan.upload {
            prepare(upload, plan, path: path, library)
        } else if plan.isUpload {
            let body = Content.bytes(plan.number, version: 0, from: 0, count: Int(plan.size) % Self.memoryLimit)
            request.body = body.withUnsafeBytes { put($0) }
            request.body_size = body.count
        } else {
            if plan.kept == nil { request.destination = text(path) }
            if plan.replaces { request.if_exists = bh_if_exists(BH_IF_EXISTS_REPLACE) }
        }
        if let chain = plan.chain { wait(for: chain, plan, library) }
    }

    deinit { for address in memory { free(address) } }

    private static let keyPrefix = "task "
    private static func key(_ task: Int) -> String { "\(keyPrefix)\(task)" }

    /// The number of the task with an idempotency key.
    static func task(_ key: UnsafePointer<CChar>?) -> Int? {
        key.flatMap { Int(String(cString: $0).dropFirst(keyPrefix.count)) }
    }

    private func prepare(_ upload: UploadPlan, _ plan: TaskPlan, path: String, _ library: sim_library) {
        request.body_file = text(path)
        request.body_source = upload.source.value
        var policy = bh_policy()
        library.`init`(&policy, MemoryLayout<bh_policy>.size)
        policy.rules.resumable_uploads = upload.option
        if upload.kind == .s3 {
            policy.rules.s3_endpoint = text(Servers.origin(plan.resource.server))
            policy.rules.s3_region = text("us-east-1")
        }
        request.policy = put(policy)
    }

    private func wait(for chain: ChainPlan, _ plan: TaskPlan, _ library: sim_library) {
        var dependency = bh_dependency()
        library.`init`(&dependency, MemoryLayout<bh_dependency>.size)
        dependency.idempotency_key = text(Self.key(chain.predecessor))
        dependency.url = chain.place(plan.number).flatMap(text)
        dependency.if_fails = chain.option
        (request.after, request.after_count) = (put(dependency), 1)
    }

    private func text(_ text: String) -> UnsafePointer<CChar>? {
        guard let copy = strdup(text) else { return nil }
        memory.append(copy)
        return UnsafePointer(copy)
    }

    private func put<Value>(_ value: Value) -> UnsafePointer<Value>? {
        withUnsafeBytes(of: value) { put($0) }?.assumingMemoryBound(to: Value.self)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard let address = malloc(max(1, bytes.count)) else { return nil }
        if let base = bytes.baseAddress { memcpy(address, base, bytes.count) }
        memory.append(address)
        return UnsafeRawPointer(address)
    }
}
