import BackhaulURLSession
import Foundation

final class Downloader: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    // Section "Configuring" of Apple's guide: the session has its own identifier, and is created at its first use.
    private lazy var urlSession: URLSession = {
        let config = URLSessionConfiguration.background(withIdentifier: "MySession")
        config.isDiscretionary = true
        config.sessionSendsLaunchEvents = true
        return URLSession(configuration: config, delegate: self, delegateQueue: nil)
    }()

    // Section "Scheduling": each download is one task, which `resume` starts.
    func download(_ url: URL) {
        let backgroundTask = urlSession.downloadTask(with: url)
        backgroundTask.countOfBytesClientExpectsToSend = 200
        backgroundTask.countOfBytesClientExpectsToReceive = 500 * 1024
        backgroundTask.resume()
    }

    // Creates the session object. The object gets the events since the last run, because its identifier is the same as
    // in the last run.
    func reconnect() { _ = urlSession }

    // Section "Finishing": the file is removed after this method has returned.
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
            try? FileManager.default.removeItem(at: file)  // removes the file of an earlier download
            try FileManager.default.moveItem(at: location, to: file)
        } catch {
            print("file error: \(error)")
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error { print("client error: \(error)") }
    }

    // This method is called when all waiting events are delivered. The handler states that the app has processed them.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        DispatchQueue.main.async {
            guard let appDelegate = UIApplication.shared.delegate as? AppDelegate,
                let backgroundCompletionHandler = appDelegate.backgroundCompletionHandler
            else { return }
            backgroundCompletionHandler()
        }
    }
}
