import Testing

@testable import BackhaulModel

struct DaemonStartErrorTests {
    private static let program = "/opt/b/backhauld"
    private static let advice =
        "; a daemon does not get LD_LIBRARY_PATH of this process: install the library where ld.so(8) finds it, or "
        + "choose BH_HOSTING_EMBEDDED"

    private static let missing = "error while loading shared libraries: libuv.so.1: cannot open shared object file"
    private static let old = "/lib/libc.so.6: version `GLIBC_2.99' not found (required by \(program))"
    private static let symbol = "symbol lookup error: /opt/b/backhauld: undefined symbol: uv_now"

    @Test(
        "the error of a daemon is the first line on its stderr, with advice if the line is from the loader",
        arguments: [
            ("", nil), ("\n", nil),
            ("\(program): \(missing)\n", missing + advice), ("\(program): \(old)\nmore\n", old + advice),
            ("\(program): \(symbol)\n", symbol + advice),
            ("backhauld: /proc is not mounted\nTry it.\n", "/proc is not mounted"), ("killed", "killed"),
        ] as [(String, String?)])
    func sentences(_ text: String, _ expected: String?) {
        #expect(DaemonStartError.failure(stderr: text, program: Self.program)?.message == expected)
    }
}
