internal import CBackhaulTables
internal import Glibc

/// The JSON document of `bh_abi_json`.
enum LayoutManifest {
    // Unsafe: the text is made at the first access. It never changes and is never freed, as the header promises.
    nonisolated(unsafe) static let json: UnsafePointer<CChar>? = UnsafePointer(strdup(text))

    // The text is put together here, because Swift's standard library has no JSON encoder. The names and numbers need
    // no escapes.
    private static var text: String {
        let structs = StructLayout.all.map { layout in
            let fields = layout.fields.map { "\"\($0.name)\":\($0.offset)" }.joined(separator: ",")
            return "\"\(layout.name)\":{\"size\":\(layout.size),\"fields\":{\(fields)}}"
        }
        let constants = HeaderConstants.all.map { "\"\($0.name)\":\($0.value)" }
        return "{\"version\":\"\(String(cString: bht_version_string()))\","
            + "\"structs\":{\(structs.joined(separator: ","))},"
            + "\"constants\":{\(constants.joined(separator: ","))}}"
    }
}
