/// Visits each field of a configuration, a policy or constraints. `visitFields` of the value lists them once, in the
/// order that they have on the wire. The wire and the store have visitors that read, which replace the field, and
/// visitors that write, which assign nothing. `column`: the field's name in the store.
public protocol FieldVisitor {
    associatedtype Problem: Error

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number, _ column: String) throws(Problem)
    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number?, _ column: String) throws(Problem)
    mutating func field(_ flag: inout Bool, _ column: String) throws(Problem)
    mutating func field(_ flag: inout Bool?, _ column: String) throws(Problem)
    /// A constant of the header.
    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(
        _ code: inout Code, _ column: String) throws(Problem)
    mutating func field<Code: RawRepresentable<Int32> & CaseIterable>(
        _ code: inout Code?, _ column: String) throws(Problem)
    mutating func field<Bits: OptionSet>(
        _ bits: inout Bits, _ column: String) throws(Problem) where Bits.RawValue == UInt32
    mutating func field<Bits: OptionSet>(
        _ bits: inout Bits?, _ column: String) throws(Problem) where Bits.RawValue == UInt32
    mutating func field(_ text: inout String?, _ column: String) throws(Problem)
    mutating func field(_ statuses: inout StatusList, _ column: String) throws(Problem)
    mutating func field(_ statuses: inout StatusList?, _ column: String) throws(Problem)
    mutating func field(_ hours: inout QuietHours?, _ column: String) throws(Problem)
    mutating func field(_ headers: inout [HeaderField], _ column: String) throws(Problem)
}
