internal import CBackhaul

/// The version of the library that this process has loaded.
public enum LibraryVersion {
    /// The version as text, such as "1.0.0".
    public static var text: String { String(cString: bh_version_string()) }
}
