import BackhaulURLSession
import Foundation

final class Downloader: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    // "Configuring": a session with an identifier of its own, made when it is first needed.
    private lazy var urlSession: URLSession = {
        let config = URLSessionConfiguration.background(withIdentifier: "MySession")
        config.isDiscretionary = true
        config.sessionSendsLaunchEvents = true
        return URLSession(configuration: config, delegate: self, delegateQueue: nil)
    }()

    // "Scheduling": a task for each download; resume starts it.
    func download(_ url: URL) {
        let backgroundTask = urlSession.downloadTask(with: url)
        backgroundTask.countOfBytesClientExpectsToSend = 200
        backgroundTask.countOfBytesClientExpectsToReceive = 500 * 1024
        backgroundTask.resume()
    }

    // A session of the same identifier, made anew, hears of what has happened in the meantime.
    func reconnect() { _ = urlSession }

    // "Finishing": the file is the delegate's until this returns.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        guard let httpResponse = downloadTask.response as? HTTPURLResponse,
            (200...299).contains(httpResponse.statusCode)
        else {
            print("server error")
            return
        }
        do {
            let folder = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            let name = downloadTask.originalRequest?.url?.lastPathComponent ?? location.lastPathComponent
            let file = folder.appendingPathComponent(name)
            try? FileManager.default.removeItem(at: file)  // an earlier download
            try FileManager.default.moveItem(at: location, to: file)
        } catch {
            print("file error: \(error)")
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error { print("client error: \(error)") }
    }

    // All that waited has been delivered: the handler says that nothing is outstanding.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        DispatchQueue.main.async {
            guard let appDelegate = UIApplication.shared.delegate as? AppDelegate,
                let backgroundCompletionHandler = appDelegate.backgroundCompletionHandler
            else { return }
            backgroundCompletionHandler()
        }
    }
}
