// The program of the unit tests. The build tool takes a file of this name instead of its own program, which would also
// have tests with XCTest, and would search the index for them.
import Glibc
import Testing

@main
enum XCTMain {
    static func main() async {
        guard CommandLine.arguments.contains("swift-testing") else {
            let advice = "error: run `swift test --disable-xctest --enable-swift-testing`\n"
            _ = write(STDERR_FILENO, advice, advice.utf8.count)
            exit(EXIT_FAILURE)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
