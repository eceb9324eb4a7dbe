import CBackhaul
import Foundation
import Testing

@testable import BackhaulABI

/// The *layout manifest* is a JSON document with the structs and constants of the header. bh_abi_json returns it.
@Suite("The layout manifest")
struct ManifestTests {
    let header: Header
    let manifest: Manifest

    init() throws {
        header = try Header()
        manifest = try JSONDecoder().decode(Manifest.self, from: Data(String(cString: bh_abi_json()).utf8))
    }

    @Test("the layout manifest has every struct of the header with every field")
    func structs() {
        #expect(header.structs.count >= 10)
        for layout in header.structs {
            #expect(manifest.structs[layout.name].map { Set($0.fields.keys) } == Set(layout.fields), "\(layout.name)")
        }
    }

    @Test("the layout manifest has every constant of the header")
    func constants() {
        #expect(header.constants.count > 90)
        #expect(Set(manifest.constants.keys) == Set(header.constants))
    }

    @Test("the layout manifest equals the layout that a C compiler computes")
    func compiled() throws {
        #expect(try header.compiledManifest() == manifest)
    }

    @Test("each call of bh_abi_json returns the same pointer to the layout manifest")
    func isStatic() {
        #expect(bh_abi_json() == bh_abi_json())
    }

    @Test("the version in the layout manifest is the version that the library's functions return")
    func version() {
        let number = bh_version()
        #expect(manifest.version == "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)")
        #expect(String(cString: bh_version_string()) == manifest.version)
    }
}
