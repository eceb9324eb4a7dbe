internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the array, and all data that it points to, can be read until the call returns. All
// of it is copied here.

/// Reads `bh_request.after`.
enum DependencyArgument {
    static func read(_ given: bh_request) throws(Failure) -> [Dependency] {
        let dependencies = try StructArgument.array(
            given.after, "after", count: given.after_count, "after_count", limit: Limits.dependencyCount,
            empty: bh_dependency(), minimumSize: StructArgument.end(of: \bh_dependency.reserved))
        var copies: [Dependency] = []
        for dependency in dependencies { copies.append(try read(dependency)) }
        return copies
    }

    private static func read(_ given: bh_dependency) throws(Failure) -> Dependency {
        try StructArgument.checkReserved(UInt64(given.reserved), in: "after")
        let key = try TextArgument.optional(given.idempotency_key, "after.idempotency_key", limit: Limits.keySize)
        guard (key == nil) != (given.task_id == 0) else {
            throw Failure(
                .invalidArgument,
                key == nil
                    ? "a task of after has no task_id and no idempotency_key; give one of them"
                    : "a task of after has both a task_id and an idempotency_key; give one of them")
        }
        var copy = Dependency(key.map { .key($0) } ?? .id(TaskID(rawValue: given.task_id)))
        copy.url = try TextArgument.optional(given.url, "after.url", limit: Limits.placeSize)
        copy.body = try TextArgument.optional(given.body, "after.body", limit: Limits.placeSize)
        copy.headers = try HeaderArgument.read(given.headers, given.header_count)
        guard given.if_fails != 0 else { return copy }
        copy.ifFails = try NumberArgument.value(
            given.if_fails, "after.if_fails", of: "one of BH_DEPENDENCY_FAILURE_…")
        return copy
    }
}
