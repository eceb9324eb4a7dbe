import CBackhaul
import CSimulation

/// How a task proves to its server that it may send requests.
struct CredentialPlan: Equatable {
    enum Kind {
        /// The headers of the request expire, and the program gives new ones.
        case refresh
        /// The server opens a challenge in a session that asks for credentials.
        case challenge
    }

    var kind: Kind
    /// The secret with which the task is enqueued; nil: none.
    var secret: Secret?
    /// When the headers expire, as the program says at the enqueue; nil: it does not say.
    var expires: Int64?
    /// The status with which the server refuses another secret.
    var refusal: Int
}

/// The secret that a server accepts from one rotation to the next.
struct Secret: Equatable {
    var server: UInt32
    /// How often the secret of the server had changed before.
    var index: Int

    init(server: UInt32, index: Int) { (self.server, self.index) = (server, index) }

    /// Reads the value of the field Authorization.
    init?(_ value: Substring) {
        let numbers = value.split(separator: "-").last?.split(separator: ".") ?? []
        guard value.hasPrefix(Self.prefix), numbers.count == 2, let server = UInt32(numbers[0]),
            let index = Int(numbers[1])
        else { return nil }
        self.init(server: server, index: index)
    }

    /// Reads the number of an observation.
    init(number: Int64) { self.init(server: UInt32(number / 1_000), index: Int(number % 1_000)) }

    private static let prefix = "Bearer secret-"
    var value: String { "\(Self.prefix)\(server).\(index)" }
    var number: Int64 { Int64(server) * 1_000 + Int64(index) }
}

extension TaskPlan {
    /// The value of the field Authorization in the request of the task; nil: it has no such field.
    var authorization: String? {
        // S3 signs requests with the field Authorization.
        if upload?.kind == .s3 { return nil }
        return credential.map { $0.secret?.value } ?? "secret"
    }
}

extension History {
    /// In some histories, the secrets of servers change.
    mutating func addCredentials(_ generator: Random) {
        var random = generator
        guard random.chance(30) else { return }
        for server in UInt32(1)...4 {
            rotations[server] = (0..<random.int(0...3)).map { _ in random.magnitude(1...Self.lastFault) }.sorted()
        }
        asksForCredentials = random.chance(50)
        for index in tasks.indices where tasks[index].upload?.kind != .s3 && random.chance(70) {
            tasks[index].credential = credential(of: tasks[index], &random)
        }
    }

    private func credential(of plan: TaskPlan, _ random: inout Random) -> CredentialPlan {
        let kind: CredentialPlan.Kind = asksForCredentials && random.chance(50) ? .challenge : .refresh
        let expires = random.chance(30) ? nextRotation(of: plan.resource.server, after: plan.time) : nil
        var secret: Secret? = secret(of: plan.resource.server, at: plan.time)
        if random.chance(20) { secret?.index = 0 }
        if kind == .challenge, random.chance(50) { secret = nil }
        // A server that refuses with 403 to continue an upload has lost it.
        let isForbidden = random.chance(30) && kind == .refresh && !plan.isUpload
        return CredentialPlan(
            kind: kind, secret: secret, expires: kind == .refresh ? expires : nil, refusal: isForbidden ? 403 : 401)
    }

    var hasCredentials: Bool { !rotations.isEmpty }

    func secret(of server: UInt32, at time: Int64) -> Secret {
        Secret(server: server, index: (rotations[server] ?? []).count { $0 <= time })
    }

    func nextRotation(of server: UInt32, after time: Int64) -> Int64? { rotations[server]?.first { $0 > time } }
}

extension Servers {
    /// The answer to a request without the present secret of the task's server; nil: the server accepts it. Another
    /// server that has the upload of the task accepts any secret.
    func refusal(of request: Request, for plan: TaskPlan, at server: UInt32) -> Answer? {
        guard let credential = plan.credential, server == plan.resource.server, request.method != "DELETE", !isOut
        else { return nil }
        let sent = request.fields["authorization"].flatMap(Secret.init)
        let isCurrent = sent == history.secret(of: server, at: now)
        record(.secretIsSent, plan.number, sent?.number ?? -1, isCurrent ? 1 : 0)
        if isCurrent { return nil }
        if request.path == "/\(plan.number)" { record(.requestIsRefused, plan.number) }
        return .status(credential.refusal, fields: "WWW-Authenticate: Bearer realm=\"\(server)\"\r\n")
    }

    /// Whether the secret of a request belongs to the server. Some tasks send none until the server asks for it.
    func mayHaveSecret(_ request: Request, _ plan: TaskPlan, at server: UInt32) -> Bool {
        guard let value = request.fields["authorization"] else {
            return server != plan.resource.server || plan.credential != nil && plan.credential?.secret == nil
        }
        return Secret(value).map { $0.server == server } ?? (server == plan.resource.server)
    }
}
