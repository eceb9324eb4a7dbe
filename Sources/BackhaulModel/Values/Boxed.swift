/// A value on the heap. Large values that are rarely present are boxed. So the types that contain these values stay
/// small.
public struct Boxed<Value: Equatable & Sendable>: Equatable, Sendable {
    @usableFromInline
    final class Storage: Sendable {
        @usableFromInline let value: Value
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline let storage: Storage
    @inlinable public var value: Value { storage.value }
    public init(_ value: Value) { storage = Storage(value) }

    /// Returns whether both boxes are copies of one box.
    func isShared(with other: Boxed) -> Bool { storage === other.storage }

    public static func == (left: Boxed, right: Boxed) -> Bool {
        left.isShared(with: right) || left.value == right.value
    }
}
