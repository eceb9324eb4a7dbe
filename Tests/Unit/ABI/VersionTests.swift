import BackhaulModel
import CBackhaul
import Testing

@testable import BackhaulABI

@Suite struct VersionTests {
    @Test("the version that engines and clients exchange is the version of the header")
    func header() {
        #expect(Versions.built.library == bh_version())
        #expect(Versions.built.libraryText == bh_version_string().map { String(cString: $0) })
    }
}
