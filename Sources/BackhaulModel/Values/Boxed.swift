/// A value on the heap. Large values that are rarely present are boxed. So the types that contain these values stay
/// small.
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
