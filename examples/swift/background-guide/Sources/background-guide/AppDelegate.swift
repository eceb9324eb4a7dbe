import BackhaulURLSession
import Foundation

class AppDelegate: NSObject, UIApplicationDelegate {
    let downloader = Downloader()
    var backgroundCompletionHandler: (() -> Void)?

    // Section "Relaunching" of Apple's guide: this method is called when the app's tasks have ended.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        backgroundCompletionHandler = completionHandler
        downloader.reconnect()
    }
}
