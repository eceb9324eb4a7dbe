import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

@Suite struct VersionTests {
    @Test("engines and clients exchange the version of the header")
    func header() {
        #expect(Versions.built.library == bh_version())
        #expect(Versions.built.libraryText == bh_version_string().map { String(cString: $0) })
    }
}
