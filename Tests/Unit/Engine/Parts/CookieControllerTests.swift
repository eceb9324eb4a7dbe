import BackhaulModel
import Testing

@testable import BackhaulEngine
@testable import BackhaulStore
@testable import BackhaulTransport

@Suite("Cookie jars")
struct CookieControllerTests {
    let runtime = FakeRuntime()
    let cookies: CookieController
    let session = SessionID(rawValue: 1)
    /// A persistent cookie in libcurl's format.
    let line = "example.org\tFALSE\t/\tFALSE\t4102444800\tname\tvalue"

    init() { cookies = CookieController(runtime) }

    @Test("only a session whose configuration enables cookies has a cookie jar")
    func policy() {
        cookies.configure(.none, of: session)
        #expect(cookies.jar(of: session) == nil)
        cookies.configure(.memory, of: session)
        #expect(cookies.jar(of: session) != nil)
        #expect(runtime.pendingStoreCalls == 0)
        cookies.forget(session)
        #expect(cookies.jar(of: session) == nil)
    }

    @Test("the jar of a session with persistent cookies begins with the cookies in the store")
    func loaded() throws {
        cookies.configure(.persistent, of: session)
        try runtime.storeReturns([line])
        #expect(cookies.jar(of: session)?.lines() == [line])
    }

    @Test("changed cookies are saved once, half a second after the change")
    func saved() throws {
        cookies.configure(.persistent, of: session)
        try runtime.storeReturns([String]())
        let jar = try #require(cookies.jar(of: session))
        jar.add([line])
        jar.onChange()
        jar.onChange()
        runtime.advance(milliseconds: 499)
        #expect(runtime.pendingStoreCalls == 0)
        runtime.advance(milliseconds: 1)
        #expect(runtime.pendingStoreCalls == 1)
        try runtime.storeReturns(())
        jar.onChange()
        runtime.advance(milliseconds: 500)
        #expect(runtime.pendingStoreCalls == 0, "the store has these cookies already")
    }

    @Test("a flood of cookies is reduced to the limits of a jar before the next save")
    func flood() throws {
        cookies.configure(.persistent, of: session)
        try runtime.storeReturns([String]())
        let jar = try #require(cookies.jar(of: session))
        jar.noteCookies(999)
        runtime.endIteration()
        #expect(jar.newCookies == 999)
        jar.noteCookies(1)
        jar.noteCookies(1)
        runtime.endIteration()
        #expect(jar.newCookies == 0 && runtime.pendingStoreCalls == 0)
    }

    @Test("cookies that are kept only in memory are not saved")
    func memory() throws {
        cookies.configure(.memory, of: session)
        let jar = try #require(cookies.jar(of: session))
        jar.add([line])
        jar.onChange()
        runtime.advance(milliseconds: 1_000)
        #expect(runtime.pendingStoreCalls == 0)
    }
}
