import Backhaul
import BackhaulFoundation
import Foundation
import FoundationNetworking
import HostTestSupport
import Testing

/// The session's delegate responds to the challenge.
@Suite("Challenges of background sessions", .timeLimit(.minutes(10)))
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

    @Test("if the delegate responds to a challenge with a user and a password, the download succeeds")
    func credential() async throws {
        let (asked, error) = try await ending("basic") {
            (.useCredential, URLCredential(user: "eve", password: "opensesame", persistence: .none))
        }
        #expect(asked == 1)
        #expect(error == nil)
    }

    @Test("if the delegate responds to a challenge with header fields, the download succeeds")
    func headers() async throws {
        let (asked, error) = try await ending("bearer") {
            (.useCredential, HeaderCredential(headers: ["Authorization": "Bearer key"]))
        }
        #expect(asked == 1)
        #expect(error == nil)
    }

    @Test(
        "if the delegate's response to a challenge has no credential, the task fails",
        arguments: [
            BackgroundURLSession.AuthChallengeDisposition.performDefaultHandling, .useCredential,
            .rejectProtectionSpace,
        ])
    func refused(disposition: BackgroundURLSession.AuthChallengeDisposition) async throws {
        let (asked, error) = try await ending("refused-\(disposition.rawValue)") { (disposition, nil) }
        #expect(asked == 1)
        #expect(error?.code == .userAuthenticationRequired)
    }

    @Test("if the delegate cancels a challenge, the task is cancelled")
    func cancelled() async throws {
        let (asked, error) = try await ending("cancelled") { (.cancelAuthenticationChallenge, nil) }
        #expect(asked == 1)
        #expect(error?.code == .cancelled)
    }

    @Test("if the delegate cancels a challenge, a task that waits for another challenge of the same origin continues")
    func cancelledBesideAnother() async throws {
        typealias Response = @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
        final class Delegate: NSObject, BackgroundURLSessionTaskDelegate {
            let (challenges, challenge) = AsyncStream<(realm: String?, respond: Response)>.makeStream()
            let (ends, end) = AsyncStream<(task: Int, code: URLError.Code?)>.makeStream()
            func urlSession(
                _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
                didReceive challenge: URLAuthenticationChallenge, completionHandler: @escaping Response
            ) { self.challenge.yield((challenge.protectionSpace.realm, completionHandler)) }
            func urlSession(
                _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
                didCompleteWithError error: (any Error)?
            ) { end.yield((task.taskIdentifier, (error as? URLError)?.code)) }
        }
        _ = try World.server.serve("a", content(10))
        let delegate = Delegate()
        let session = BackgroundURLSession(
            configuration: World.configuration("two-challenges"), delegate: delegate, delegateQueue: nil)
        let cellar = session.downloadTask(with: try World.url("secret/a"))
        let attic = session.downloadTask(with: try World.url("attic/a"))
        for task in [cellar, attic] { task.resume() }
        var responses: [String?: Response] = [:]
        for await (realm, respond) in delegate.challenges.prefix(2) { responses[realm] = respond }
        let (respondToCellar, respondToAttic) = (try #require(responses["cellar"]), try #require(responses["attic"]))
        respondToCellar(.cancelAuthenticationChallenge, nil)
        let cancelled = try #require(await delegate.ends.first { _ in true })
        #expect(cancelled.task == cellar.taskIdentifier && cancelled.code == .cancelled)
        respondToAttic(.useCredential, URLCredential(user: "eve", password: "opensesame", persistence: .none))
        let finished = try #require(await delegate.ends.first { _ in true })
        #expect(finished.task == attic.taskIdentifier && finished.code == nil)
        session.invalidateAndCancel()
    }

    @Test("the async form of the delegate's method can respond to a challenge")
    func asynchronous() async throws {
        final class Delegate: NSObject, BackgroundURLSessionDownloadDelegate {
            let errors: AsyncStream<URLError?>.Continuation
            init(_ errors: AsyncStream<URLError?>.Continuation) { self.errors = errors }
            func urlSession(
                _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
                didReceive challenge: URLAuthenticationChallenge
            ) async -> (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) {
                (.useCredential, URLCredential(user: "eve", password: "opensesame", persistence: .none))
            }
            func urlSession(
                _ session: BackgroundURLSession, downloadTask: BackgroundURLSessionDownloadTask,
                didFinishDownloadingTo location: URL
            ) {}
            func urlSession(
                _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
                didCompleteWithError error: (any Error)?
            ) { errors.yield(error as? URLError) }
        }
        _ = try World.server.serve("a", content(10))
        let (errors, error) = AsyncStream<URLError?>.makeStream()
        let session = BackgroundURLSession(
            configuration: World.configuration("async-challenge"), delegate: Delegate(error), delegateQueue: nil)
        session.downloadTask(with: try World.url("secret/a")).resume()
        #expect(await errors.first { _ in true } == .some(nil))
        session.invalidateAndCancel()
    }

    @Test("if the delegate responds to a challenge during a listing of the tasks, the download succeeds")
    func responseDuringListing() async throws {
        typealias Response = @Sendable (BackgroundURLSession.AuthChallengeDisposition, URLCredential?) -> Void
        final class Delegate: NSObject, BackgroundURLSessionTaskDelegate {
            let (responses, response) = AsyncStream<Response>.makeStream()
            let (errors, error) = AsyncStream<URLError?>.makeStream()
            func urlSession(
                _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
                didReceive challenge: URLAuthenticationChallenge, completionHandler: @escaping Response
            ) { response.yield(completionHandler) }
            func urlSession(
                _ session: BackgroundURLSession, task: BackgroundURLSessionTask,
                didCompleteWithError error: (any Error)?
            ) { self.error.yield(error as? URLError) }
        }
        _ = try World.server.serve("a", content(10))
        let delegate = Delegate()
        let session = BackgroundURLSession(
            configuration: World.configuration("listing-challenge"), delegate: delegate, delegateQueue: nil)
        session.downloadTask(with: try World.url("secret/a")).resume()
        let respond = try #require(await delegate.responses.first { _ in true })

        let (listings, listing) = AsyncStream<Void>.makeStream()
        let isOver = DispatchSemaphore(value: 0)
        session.getAllTasks { _ in
            listing.yield()
            isOver.wait()
        }
        defer { isOver.signal() }
        await listings.first { _ in true }
        // The end of the second task is not delivered before the end of the listing.
        session.downloadTask(with: try World.url("absent")).resume()
        let application = try await Application.open(
            "org.example.tests", store: World.server.path("store"), hosting: .embedded)
        while try await application.sessions().first(where: { $0.identifier == "listing-challenge" })?.events != 2 {
            await Task.yield()
        }
        await application.close()
        // The first pause gives the delivering thread time to read the event. The second pause gives the thread time to
        // read the response. The test cannot see when the thread has read them. The first pause is longer than the
        // interval of progress readings, which also wake the thread.
        try await Task.sleep(for: .milliseconds(600))
        respond(.useCredential, URLCredential(user: "eve", password: "opensesame", persistence: .none))
        try await Task.sleep(for: .milliseconds(200))
        isOver.signal()
        let errors = await delegate.errors.prefix(2).reduce(into: []) { $0.append($1?.code) }
        #expect(errors == [.badServerResponse, nil])
        session.invalidateAndCancel()
    }
}
