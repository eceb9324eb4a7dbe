internal import BackhaulModel

extension RequestOptions: WireRecord {
    static var blank: RequestOptions { RequestOptions() }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try visitFields(with: &coder)
        // Most tasks have no constraints. For such a task, one byte is written.
        try coder.field(&policy.constraints, as: { $0 == .none ? nil : $0 }, from: { $0 ?? Constraints.none })
        try coder.field(&body)
        try coder.field(&dependencies)
    }
}

extension Dependency: WireRecord, WireElement {
    static var minimumSize: Int { 12 }
    static var blank: Dependency { Dependency(.key("")) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&task)
        try coder.field(&ifFails)
        try coder.field(&url)
        try coder.field(&headers)
        try coder.field(&body)
    }
}

extension Dependency.Name: WireValue {
    enum Form: UInt8 { case id = 1, key }

    func write(to coder: inout Coder) {
        switch self {
        case .id(let id): coder.put(Form.id, id)
        case .key(let key): coder.put(Form.key, key)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> Dependency.Name {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .id: .id(try coder.next())
        case .key: .key(try coder.next())
        case nil: throw Malformed("it has the unknown name of a task \(tag)")
        }
    }
}

extension BodyFile: WireRecord {
    static var blank: BodyFile { BodyFile(path: "", device: 0, inode: 0, size: 0, modifiedNanoseconds: 0) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&path)
        try coder.field(&device)
        try coder.field(&inode)
        try coder.field(&size)
        try coder.field(&modifiedNanoseconds)
    }
}

extension FormPart: WireRecord, WireElement {
    static var minimumSize: Int { 11 }
    static var blank: FormPart { FormPart(name: "", content: .value([])) }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        try coder.field(&name)
        try coder.field(&content)
        try coder.field(&fileName)
        try coder.field(&mediaType)
    }
}

extension FormPart.Content: WireValue {
    enum Form: UInt8 { case file = 1, value }

    func write(to coder: inout Coder) {
        switch self {
        case .file(let file): coder.put(Form.file, file)
        case .value(let bytes): coder.put(Form.value, bytes)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> FormPart.Content {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .file: .file(try coder.next())
        case .value: .value(try coder.next())
        case nil: throw Malformed("it has the unknown content of a part \(tag)")
        }
    }
}

extension RequestBody: WireValue {
    enum Form: UInt8 { case file = 1, bytes, form }

    func write(to coder: inout Coder) {
        switch self {
        case .file(let file, let source): coder.put(Form.file, file, source)
        case .bytes(let bytes): coder.put(Form.bytes, bytes)
        case .form(let parts, let source): coder.put(Form.form, parts, source)
        }
    }

    static func read(from coder: inout Coder) throws(Malformed) -> RequestBody {
        let tag = try coder.byte()
        return switch Form(rawValue: tag) {
        case .file: .file(try coder.next(), try coder.next())
        case .bytes: .bytes(try coder.next())
        case .form: .form(try coder.next(), try coder.next())
        case nil: throw Malformed("it has the unknown form of body \(tag)")
        }
    }
}
