/// Checks of the tasks that a request waits for, and of what it takes from their responses.
enum DependencyCheck {
    static func check(_ request: Request, _ dependencies: [Dependency]) throws(Failure) {
        guard dependencies.count <= Limits.dependencyCount else {
            throw invalid("after has \(dependencies.count) tasks; at most \(Limits.dependencyCount) are allowed")
        }
        guard dependencies.count(where: { $0.url != nil }) <= 1 else {
            throw invalid("two tasks of after give the URL; take it from one of them")
        }
        let bodies = dependencies.count { $0.body != nil }
        guard bodies <= 1 else { throw invalid("two tasks of after give the body; take it from one of them") }
        if bodies == 1 {
            guard request.options.body == .bytes([]) else {
                throw invalid("a task of after gives the body, but the request has a body of its own; give one of them")
            }
            guard request.options.range == nil else {
                throw invalid(
                    "range_start and range_size select bytes of a downloaded file, or of a body_file; the "
                        + "request has another body")
            }
        }
        for dependency in dependencies {
            if case .key(let key) = dependency.task, key == request.idempotencyKey {
                throw invalid("after names the idempotency_key of the request itself; name another task")
            }
            try check(dependency)
        }
        let names = dependencies.flatMap(\.headers).map { $0.name.lowercased() }
        guard Set(names).count == names.count else { throw invalid("after gives a header field twice") }
    }

    private static func check(_ dependency: Dependency) throws(Failure) {
        switch dependency.task {
        case .id(let id):
            guard id > .zero else { throw invalid("a task of after has no task_id and no idempotency_key") }
        case .key(let key):
            guard (1...Limits.keySize).contains(key.utf8.count), !key.utf8.contains(0) else {
                throw invalid("an idempotency_key of after has not 1 to \(Limits.keySize) bytes without NUL")
            }
        }
        for place in dependency.places {
            guard place.utf8.count <= Limits.placeSize, ResponseValue(place) != nil else {
                throw invalid(
                    "'\(place.prefix(100))' is no place in a response; give url, body, header:NAME or json:/POINTER")
            }
        }
        guard dependency.ifFails != .ignore || dependency.places.isEmpty else {
            throw invalid(
                "if_fails is BH_DEPENDENCY_FAILURE_IGNORE, but the request takes a value from the response, which a "
                    + "failed task may not have")
        }
        try RequestCheck.checkHeaders(dependency.headers)
    }

    private static func invalid(_ message: String) -> Failure { Failure(.invalidArgument, message) }
}
