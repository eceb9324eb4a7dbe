// A program for Linux with the code listings of Apple's guide to background networking, in current Swift. The other
// files would compile on Apple's systems after a change of one import. This file does what UIKit does before it calls
// an application.
//
//   background-guide URL   starts the download and exits
//   background-guide       the command with which the daemon launches the program when the download is complete
import BackhaulURLSession
import Foundation

let delegate = AppDelegate()
do {
    if try UIApplication.shared.handleLaunch(delegate: delegate) { exit(0) }
} catch {
    FileHandle.standardError.write(Data("background-guide: \(error)\n".utf8))
    exit(1)
}
let address = CommandLine.arguments.dropFirst().first ?? ""
guard let url = URL(string: address), ["http", "https"].contains(url.scheme) else {
    FileHandle.standardError.write(Data("usage: background-guide URL\n".utf8))
    exit(2)
}
delegate.downloader.download(url)
