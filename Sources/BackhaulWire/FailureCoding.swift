internal import BackhaulModel

// Part of `goodbye`, which engines of all versions say in the same form: this layout never changes.
extension Failure: WireRecord {
    static var blank: Failure { Failure(.internal, "") }
    mutating func code(with coder: inout Coder) throws(Malformed) {
        // A newer engine may know more codes; its sentence still helps.
        try coder.code(&status, orElse: .internal)
        try coder.code(&domain, orElse: .none)
        try coder.field(&detail)
        try coder.field(&message)
        try coder.field(&index)
    }
}
