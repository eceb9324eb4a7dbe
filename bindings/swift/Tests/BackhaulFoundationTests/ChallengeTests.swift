import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@Suite("A challenge")
struct ChallengeTests {
    private func ending(
        _ name: String, _ reply: @escaping @Sendable () -> Recorder.Reply
    ) async throws -> (asked: Int, error: URLError?) {
        _ = try World.server.serve("a", content(10))
        let recorder = Recorder(reply: reply)
        let session = BackgroundURLSession(
            configuration: World.configuration("challenge-\(name)"), delegate: recorder, delegateQueue: nil)
        session.downloadTask(with: try World.url("secret/a")).resume()
        var asked = 0
        let messages = await recorder.messages { if case .completed = $0 { true } else { false } }
        for case .challenge(let challenge, _) in messages {
            #expect(challenge.protectionSpace.host == "127.0.0.1")
            #expect(challenge.protectionSpace.port == World.server.port)
            #expect(challenge.protectionSpace.realm == "cellar")
            #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
            #expect(challenge.previousFailureCount == asked)
            asked += 1
        }
        session.invalidateAndCancel()
        guard case .completed(_, let error) = messages.last else { return (asked, nil) }
        return (asked, error)
    }

    @Test("is answered with user and password")
    func credential() async throws {
        let (asked, error) = try await ending("basic") {
            (.useCredential, URLCredential(user: "eve", password: "opensesame", persistence: .none))
        }
        #expect(asked == 1)
        #expect(error == nil)
    }

    @Test("is answered with header fields")
    func headers() async throws {
        let (asked, error) = try await ending("bearer") {
            (.useCredential, HeaderCredential(headers: ["Authorization": "Bearer key"]))
        }
        #expect(asked == 1)
        #expect(error == nil)
    }

    @Test("by default, without a credential or with a rejected protection space, fails its tasks", arguments: [
        BackgroundURLSession.AuthChallengeDisposition.performDefaultHandling, .useCredential, .rejectProtectionSpace,
    ])
    func refused(disposition: BackgroundURLSession.AuthChallengeDisposition) async throws {
        let (asked, error) = try await ending("refused-\(disposition.rawValue)") { (disposition, nil) }
        #expect(asked == 1)
        #expect(error?.code == .userAuthenticationRequired)
    }

    @Test("that is cancelled cancels its tasks")
    func cancelled() async throws {
        let (asked, error) = try await ending("cancelled") { (.cancelAuthenticationChallenge, nil) }
        #expect(asked == 1)
        #expect(error?.code == .cancelled)
    }
}
