/// In the place of the Swift runtime's function of this name (the Makefile links it so): no code of ours asks how a
/// character is called, and the names of all characters are half a megabyte of the library.
///
/// Unsafe: the buffer is not touched.
@c(__wrap__swift_stdlib_getScalarName)
public func nameOfScalar(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }
