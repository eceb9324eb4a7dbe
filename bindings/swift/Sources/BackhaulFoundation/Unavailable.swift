public import Foundation
public import FoundationNetworking

// The declarations of this file have the names of Apple's members that background sessions do not have. On Apple's
// systems, a call of such a member raises an exception. Here the program does not compile, and the message says why.

extension BackgroundURLSession {
    /// Not available, because each background session has an identifier.
    @available(*, unavailable, message: "Backhaul has only background sessions: make a session with a configuration.")
    public class var shared: BackgroundURLSession { fatalError() }

    /// Not available, because background sessions have no data tasks.
    @available(*, unavailable, message: "Background sessions have no data tasks: use downloadTask or uploadTask.")
    public func dataTask(with url: URL) -> BackgroundURLSessionDataTask { fatalError() }

    /// Not available, because background sessions have no data tasks.
    @available(*, unavailable, message: "Background sessions have no data tasks: use downloadTask or uploadTask.")
    public func dataTask(with request: URLRequest) -> BackgroundURLSessionDataTask { fatalError() }

    /// Not available, because background sessions have no data tasks.
    @available(*, unavailable, message: "Background sessions have no data tasks: use downloadTask or uploadTask.")
    public func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BackgroundURLSessionDataTask { fatalError() }

    /// Not available, because background sessions have no data tasks.
    @available(*, unavailable, message: "Background sessions have no data tasks: use downloadTask or uploadTask.")
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BackgroundURLSessionDataTask { fatalError() }

    /// Not available, because background sessions call only the session's delegate.
    @available(*, unavailable, message: "Background sessions call no completion handler: use the session's delegate.")
    public func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> BackgroundURLSessionDownloadTask { fatalError() }

    /// Not available, because background sessions call only the session's delegate.
    @available(*, unavailable, message: "Background sessions call no completion handler: use the session's delegate.")
    public func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> BackgroundURLSessionDownloadTask { fatalError() }

    /// Not available, because background sessions call only the session's delegate.
    @available(*, unavailable, message: "Background sessions call no completion handler: use the session's delegate.")
    public func uploadTask(
        with request: URLRequest, fromFile file: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BackgroundURLSessionUploadTask { fatalError() }

    /// Not available, because the program that makes the stream may end before the upload.
    @available(*, unavailable, message: "Background sessions send files or data: use uploadTask(with:fromFile:).")
    public func uploadTask(withStreamedRequest request: URLRequest) -> BackgroundURLSessionUploadTask { fatalError() }

    /// Not available, because the program may end before the transfer.
    @available(*, unavailable, message: "Background sessions have no async transfers: use downloadTask and a delegate.")
    public func data(
        for request: URLRequest, delegate: (any BackgroundURLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }

    /// Not available, because the program may end before the transfer.
    @available(*, unavailable, message: "Background sessions have no async transfers: use downloadTask and a delegate.")
    public func download(
        for request: URLRequest, delegate: (any BackgroundURLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) { fatalError() }

    /// Not available, because the program may end before the transfer.
    @available(*, unavailable, message: "Background sessions have no async transfers: use downloadTask and a delegate.")
    public func data(
        from url: URL, delegate: (any BackgroundURLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }

    /// Not available, because the program may end before the transfer.
    @available(*, unavailable, message: "Background sessions have no async transfers: use downloadTask and a delegate.")
    public func download(
        from url: URL, delegate: (any BackgroundURLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) { fatalError() }

    /// Not available, because the program may end before the transfer.
    @available(*, unavailable, message: "Background sessions have no async transfers: use uploadTask and a delegate.")
    public func upload(
        for request: URLRequest, fromFile file: URL, delegate: (any BackgroundURLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }

    /// Not available, because the program may end before the transfer.
    @available(*, unavailable, message: "Background sessions have no async transfers: use uploadTask and a delegate.")
    public func upload(
        for request: URLRequest, from body: Data, delegate: (any BackgroundURLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }
}

extension BackgroundURLSessionTask {
    /// Not available, because background sessions call only the session's delegate.
    @available(*, unavailable, message: "Background sessions call only the delegate of the session.")
    public var delegate: (any BackgroundURLSessionTaskDelegate)? {
        get { nil }
        set {}
    }
}
