/// Replaces the Swift runtime's function of this name (the Makefile links it so). Our code never uses the name of a
/// character, and the names of all characters take half a megabyte of the library.
///
/// Unsafe: the buffer is not touched.
@c(__wrap__swift_stdlib_getScalarName)
public func nameOfScalar(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }
