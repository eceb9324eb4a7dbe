/// Visits each field of a configuration, a policy, constraints or metrics. Each of these types has one function,
/// `visitFields`, that visits the type's fields in the order in which messages contain them. Some visitors read a
/// message or a row of the database, and set the fields. Other visitors write the fields to a message or a row, and do
/// not change them. `column`: the name of the field in the database.
public protocol FieldVisitor {
    associatedtype Problem: Error

    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number, _ column: String) throws(Problem)
    mutating func field<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: inout Number?, _ column: String) throws(Problem)
    mutating func field(_ flag: inout Bool, _ column: String) throws(Problem)
    mutating func field(_ flag: inout Bool?, _ column: String) throws(Problem)
    /// Visits a field whose values are constants of include/backhaul.h.
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
