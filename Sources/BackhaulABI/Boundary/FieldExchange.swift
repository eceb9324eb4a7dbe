internal import BackhaulModel
internal import CBackhaul

// Unsafe: the host guarantees that the struct, and all data that it points to, can be read until the call returns. All
// of it is copied here. Data for the host is in an arena, which is the memory of a list (a batch) that the host owns.

/// Copies fields between a struct of the header and a Swift value. One list of fields serves both directions
/// (`ConfigurationFields.swift`). In the header, 0 and NULL mean the default. If a field that is read has 0 or NULL,
/// the Swift value gets its default. If the default is nil, this type assigns nil. Any other default is already in the
/// Swift value, because the caller has set it, so the value stays unchanged. Writing never throws.
struct FieldExchange: ~Copyable {
    private let isReading: Bool
    private var arena = Arena()

    private init(isReading: Bool) { self.isReading = isReading }

    /// Reads structs into values.
    static func read(_ fields: (inout FieldExchange) throws(Failure) -> Void) throws(Failure) {
        var exchange = FieldExchange(isReading: true)
        try fields(&exchange)
    }

    /// Writes values into structs. Their texts are placed in the arena.
    static func write(into arena: inout Arena, _ fields: (inout FieldExchange) throws(Failure) -> Void) {
        var exchange = FieldExchange(isReading: false)
        swap(&exchange.arena, &arena)
        do throws(Failure) { try fields(&exchange) } catch { assertionFailure(error.message) }
        swap(&exchange.arena, &arena)
    }
}

/// Functions that copy numbers, bits and codes. `name`: the field's name in error messages.
extension FieldExchange {
    func field<Number: FixedWidthInteger>(_ given: inout Number, _ value: inout Number) {
        if !isReading { given = value } else if given != 0 { value = given }
    }

    func field<Number: FixedWidthInteger>(_ given: inout Number, _ value: inout Number?) {
        if isReading { value = PolicyArgument.unlessZero(given) } else { given = value ?? 0 }
    }

    /// Copies an optional number whose default is not nil. In the header, 0 means this default, and the number
    /// `ignored` means nil.
    func field<Number: FixedWidthInteger>(_ given: inout Number, _ value: inout Number?, nilIs ignored: Number) {
        if !isReading { given = value ?? ignored } else if given != 0 { value = given == ignored ? nil : given }
    }

    func field<Bits: OptionSet>(_ given: inout UInt32, _ value: inout Bits) where Bits.RawValue == UInt32 {
        if !isReading { given = value.rawValue } else if given != 0 { value = Bits(rawValue: given) }
    }

    func field<Bits: OptionSet>(_ given: inout UInt32, _ value: inout Bits?) where Bits.RawValue == UInt32 {
        if isReading { value = given == 0 ? nil : Bits(rawValue: given) } else { given = value?.rawValue ?? 0 }
    }

    func percent(_ given: inout UInt32, _ value: inout UInt8?, _ name: String) throws(Failure) {
        guard isReading else { return given = UInt32(value ?? 0) }
        guard given <= 100 else { throw Failure(.invalidArgument, "\(name) is \(given); give 1 to 100") }
        value = given == 0 ? nil : UInt8(given)
    }

    func choice(_ given: inout Int32, _ value: inout Bool, _ name: String) throws(Failure) {
        guard isReading else { return given = TriState.code(value) }
        value = try PolicyArgument.choice(given, name) ?? value
    }

    func choice(_ given: inout Int32, _ value: inout Bool?, _ name: String) throws(Failure) {
        guard isReading else { return given = TriState.code(value) }
        value = try PolicyArgument.choice(given, name)
    }

    /// `names`: the valid constants, for the error message.
    func code<Code: RawRepresentable>(
        _ given: inout Int32, _ value: inout Code, _ name: String, of names: String
    ) throws(Failure) where Code.RawValue == Int32 {
        guard isReading else { return given = value.rawValue }
        if given != 0 { value = try NumberArgument.value(given, name, of: names) }
    }

    func code<Code: RawRepresentable>(
        _ given: inout Int32, _ value: inout Code?, _ name: String, of names: String
    ) throws(Failure) where Code.RawValue == Int32 {
        guard isReading else { return given = value?.rawValue ?? 0 }
        value = given == 0 ? nil : try NumberArgument.value(given, name, of: names)
    }
}

/// Functions that copy texts, arrays and structs.
extension FieldExchange {
    mutating func text(
        _ given: inout UnsafePointer<CChar>?, _ value: inout String?, _ name: String, limit: Int = Limits.pathSize
    ) throws(Failure) {
        guard isReading else { return given = arena.place(value) }
        value = try TextArgument.optional(given, name, limit: limit)
    }

    mutating func statuses(
        _ given: inout UnsafePointer<CChar>?, _ value: inout StatusList?, _ name: String
    ) throws(Failure) {
        guard isReading else { return given = arena.place(value?.text) }
        value = nil
        guard let text = try TextArgument.optional(given, name, limit: StatusList.sizeMaximum) else { return }
        value = StatusList(text)
        guard value != nil else {
            throw Failure(
                .invalidArgument, "\(name) is not a list of statuses (100 to 599) and ranges, such as \"200-299,404\"")
        }
    }

    mutating func hours(
        _ given: inout UnsafePointer<CChar>?, _ value: inout QuietHours?, _ name: String
    ) throws(Failure) {
        guard isReading else { return given = arena.place(value?.text) }
        value = nil
        guard let text = try TextArgument.optional(given, name, limit: 2_000) else { return }
        value = QuietHours(text)
        guard value != nil else {
            throw Failure(
                .invalidArgument,
                "\(name) is \"\(text)\", not hours such as \"22:00-06:30\" or \"mon-fri 08:00-18:00, "
                    + "sat 10:00-14:00\"")
        }
    }

    mutating func headers(
        _ given: inout UnsafePointer<bh_header>?, _ count: inout Int, _ value: inout [HeaderField]
    ) throws(Failure) {
        guard isReading else {
            given = arena.place(value)
            return count = value.count
        }
        value = try HeaderArgument.read(given, count)
    }

    func budget(_ given: inout bh_budget, _ value: inout ByteBudget) {
        if isReading { value = NetworkArgument.budget(given) } else { given = bh_budget(value) }
    }
}
