// The listings of Apple's guide to background networking, in today's spelling, as a program for Linux. The other files
// have nothing of Backhaul but the name of one import; this one is what UIKit does before it calls an application.
//
//   background-guide URL   starts to download, and ends at once
//   background-guide       how it is launched when the file is there
import BackhaulURLSession
import Foundation

let delegate = AppDelegate()
do {
    if try UIApplication.shared.handleLaunch(delegate: delegate) { exit(0) }
} catch {
    FileHandle.standardError.write(Data("background-guide: \(error)\n".utf8))
    exit(1)
}
guard let address = CommandLine.arguments.dropFirst().first, let url = URL(string: address) else {
    FileHandle.standardError.write(Data("usage: background-guide URL\n".utf8))
    exit(2)
}
delegate.downloader.download(url)
