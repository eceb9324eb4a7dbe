internal import BackhaulModel

/// What few requests have, in tables of its own.
extension Transaction {
    func insertOptions(_ options: RequestOptions, of task: TaskID) throws(Failure) {
        try tables.options.insert(options, of: task)
        for (position, part) in options.bodyParts.enumerated() {
            try tables.bodies.insert(part, of: task, at: position)
        }
    }

    /// Nil when the task has none. `constraints`: what the task states.
    func options(of task: TaskID, stating constraints: ConstraintsID) throws(Failure) -> RequestOptions? {
        guard let stored = try tables.options.find(task) else { return nil }
        var options = stored.options
        if constraints != .session { options.policy.constraints = try self.constraints(constraints).stated }
        guard let source = stored.bodySource else { return options }
        options.body = RequestBody(source, stored.bodyBytes, try tables.bodies.parts(of: task))
        return options
    }

    /// Those of the selection that have none get a row that says nothing.
    func makeOptionsOfSelectedTasks() throws(Failure) {
        try tables.options.makeForSelected()
        try tables.requests.markOptionsOfSelected()
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
