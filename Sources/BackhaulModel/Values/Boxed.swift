/// A value on the heap. It is for large values that are rarely present, so that their owner stays small.
public struct Boxed<Value: Equatable & Sendable>: Equatable, Sendable {
    private final class Storage: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private let storage: Storage
    public var value: Value { storage.value }
    public init(_ value: Value) { storage = Storage(value) }

    public static func == (left: Boxed, right: Boxed) -> Bool {
        left.storage === right.storage || left.value == right.value
    }
}
