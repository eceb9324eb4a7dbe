import Foundation
import HostTestSupport
import Testing

/// What compiles with this package, and what the compiler says about members that background sessions do not have.
@Suite("Compilation", .timeLimit(.minutes(10)))
struct CompilationTests {
    private func compile(_ text: String) async throws -> String {
        try await diagnostics(of: text, in: World.server.folder)
    }

    private func compile(method: String) async throws -> String {
        try await compile(
            """
            import BackhaulFoundation
            import Foundation
            import FoundationNetworking
            typealias Response = (BackgroundURLSession.AuthChallengeDisposition, URLCredential?)
            final class Delegate: NSObject {}
            extension Delegate: BackgroundURLSessionDelegate, BackgroundURLSessionTaskDelegate {
                func urlSession(_ session: BackgroundURLSession, \(method)
            }
            """)
    }

    @Test(
        "a delegate with a method for challenges of the whole session does not compile, and the error says why",
        arguments: [
            "didReceive challenge: URLAuthenticationChallenge, completionHandler: @escaping "
                + "(BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void) {}",
            "didReceive challenge: URLAuthenticationChallenge, completionHandler: @Sendable @escaping "
                + "(BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void) {}",
            "didReceive challenge: URLAuthenticationChallenge) async -> "
                + "(BackgroundURLSession.AuthChallengeDisposition, URLCredential?) { (.performDefaultHandling, nil) }",
        ])
    func challengeOfTheSession(method: String) async throws {
        let output = try await compile(method: method)
        #expect(output.contains("error:"))
        #expect(output.contains("Never called: the daemon verifies servers. Set caFile or tls.pinnedPublicKeys."))
    }

    @Test(
        "a delegate's method for a task's challenges compiles with a handler and as an async method",
        arguments: [
            "task: BackgroundURLSessionTask, didReceive challenge: URLAuthenticationChallenge, completionHandler: "
                + "@escaping (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void) {}",
            "task: BackgroundURLSessionTask, didReceive challenge: URLAuthenticationChallenge) async -> Response "
                + "{ (.performDefaultHandling, nil) }",
        ])
    func challengeOfATask(method: String) async throws {
        let output = try await compile(method: method)
        #expect(output == "")
    }

    private static let start = """
        import BackhaulURLSession
        import Foundation
        final class Delegate: NSObject, UIApplicationDelegate {
            func application(
                _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
                completionHandler: @escaping @Sendable () -> Void
            ) {}
        }
        let delegate = Delegate()
        let configuration = URLSessionConfiguration.background(withIdentifier: "gallery")
        let url = URL(string: "https://example.org/")!

        """

    @Test(
        "the compiler says why a background session does not have a member of Apple's sessions",
        arguments: [
            ("_ = URLSessionConfiguration.default", "use background(withIdentifier:)"),
            ("_ = URLSessionConfiguration.ephemeral", "use background(withIdentifier:)"),
            ("_ = URLSession.shared", "make a session with a configuration"),
            ("_ = URLSession(configuration: configuration).dataTask(with: url)", "use downloadTask or uploadTask"),
            (
                "_ = URLSession(configuration: configuration).dataTask(with: url) { _, _, _ in }",
                "use downloadTask or uploadTask"
            ),
            (
                "_ = URLSession(configuration: configuration).downloadTask(with: url) { _, _, _ in }",
                "use the session's delegate"
            ),
            (
                "_ = try await URLSession(configuration: configuration).download(from: url)",
                "use downloadTask and a delegate"
            ),
            (
                "URLSession(configuration: configuration).downloadTask(with: url).delegate = nil",
                "call only the delegate of the session"
            ),
        ])
    func unavailable(line: String, reason: String) async throws {
        let output = try await compile(CompilationTests.start + line)
        #expect(output.contains("error:"))
        #expect(output.contains(reason))
    }

    @Test("a configuration is Sendable, and has Apple's properties that need not have an effect here")
    func configuration() async throws {
        let output = try await compile(
            CompilationTests.start + """
                let sendable: any Sendable = configuration
                let copied = configuration.copy(with: nil) as? URLSessionConfiguration
                configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
                configuration.networkServiceType = .background
                configuration.httpShouldUsePipelining = true
                configuration.shouldUseExtendedBackgroundIdleMode = true
                configuration.httpCookieStorage = nil
                configuration.urlCredentialStorage = nil
                configuration.urlCache = nil
                configuration.sharedContainerIdentifier = "group.example"
                configuration.protocolClasses = []
                print(sendable, copied as Any)
                """)
        #expect(output == "")
    }

    /// The Swift code of a document, without manifests of packages, which the package manager compiles.
    private func examples(_ document: String) throws -> [String] {
        let text = try String(contentsOf: checkout.appendingPathComponent(document), encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
            .filter { !$0.contains("import PackageDescription") }
    }

    @Test(
        "the examples of the documents compile",
        arguments: ["docs/swift.md", "bindings/swift/README.md", "README.md"])
    func documents(document: String) async throws {
        let found = try examples(document)
        #expect(!found.isEmpty)
        for example in found {
            let start = document == "docs/swift.md" ? CompilationTests.start : "import Backhaul\n"
            let output = try await compile(start + example)
            #expect(!output.contains("error:"), "\(example)\n\(output)")
        }
    }
}
