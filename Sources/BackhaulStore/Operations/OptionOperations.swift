internal import BackhaulModel

/// Operations on the options of requests: the rarely used fields, which are in separate tables. Also reads stored tasks
/// together with their options.
struct OptionOperations {
    let tables: Tables
    private var credentials: CredentialOperations { CredentialOperations(tables: tables) }
    private var constraints: ConstraintOperations { ConstraintOperations(tables: tables) }

    func insert(_ options: RequestOptions, of task: TaskID) throws(Failure) {
        try tables.options.insert(options, of: task)
        for (position, part) in options.bodyParts.enumerated() {
            try tables.bodies.insert(part, of: task, at: position)
        }
    }

    /// Returns the task's options, or nil when the task has no options. `constraints` is the id of the task's
    /// constraints (its demands on the system).
    func find(of task: TaskID, stating constraints: ConstraintsID) throws(Failure) -> RequestOptions? {
        guard let stored = try tables.options.find(task) else { return nil }
        var options = stored.options
        if constraints != .session { options.policy.constraints = try self.constraints.value(of: constraints).stated }
        if stored.hasDependencies { options.dependencies = try tables.dependencies.all(of: task) }
        guard let source = stored.bodySource else { return options }
        options.body = RequestBody(source, stored.bodyBytes, try tables.bodies.parts(of: task))
        return options
    }

    /// Adds an empty row of options for each selected task that has no row of options.
    func makeOfSelected() throws(Failure) {
        try tables.options.makeForSelected()
        try tables.requests.setHasOptionsOfSelected()
    }

    // MARK: Tasks with their options

    func tasks(_ ids: [TaskID]) throws(Failure) -> [StoredTask] {
        var tasks: [StoredTask] = []
        tasks.reserveCapacity(ids.count)
        for id in ids {
            if let task = try task(id) { tasks.append(task) }
        }
        return tasks
    }

    func task(_ id: TaskID) throws(Failure) -> StoredTask? {
        guard let row = try tables.listing.stored(id) else { return nil }
        return try task(row)
    }

    func task(_ row: StoredTaskRow) throws(Failure) -> StoredTask {
        guard row.hasOptions, let options = try find(of: row.task.id, stating: row.task.constraints) else {
            return row.task
        }
        var task = row.task
        task.request.options = options
        if options.body != nil { task.uploadResource = try tables.uploads.resource(of: task.id) }
        if !options.dependencies.isEmpty, let taken = try tables.dependencies.values(of: task.id) {
            task.request = taken.applied(to: task.request)
        }
        task.refreshed = try credentials.refreshed(for: task)
        if let refreshed = task.refreshed { task.request = refreshed.applied(to: task.request) }
        return task
    }
}

extension RequestOptions {
    fileprivate var bodyParts: [BodyPart] {
        switch body {
        case nil, .bytes: return []
        case .file(let file, _): return [BodyPart(file: file)]
        case .form(let parts, _):
            return parts.map { part in
                var row = BodyPart(name: part.name, fileName: part.fileName, mediaType: part.mediaType)
                switch part.content {
                case .file(let file): row.file = file
                case .value(let bytes): row.value = bytes
                }
                return row
            }
        }
    }
}

extension RequestBody {
    fileprivate init(_ source: BodySource, _ bytes: [UInt8]?, _ rows: [BodyPart]) {
        if let bytes {
            self = .bytes(bytes)
        } else if rows.count == 1, rows[0].name == nil, let file = rows[0].file {
            self = .file(file, source)
        } else {
            self = .form(
                rows.map { row in
                    FormPart(
                        name: row.name ?? "", content: row.file.map { .file($0) } ?? .value(row.value ?? []),
                        fileName: row.fileName, mediaType: row.mediaType)
                }, source)
        }
    }
}
