// An image downloader. The user starts a download and closes the program, and the download continues.
//
//   images get URL...   enqueues the pictures and exits
//   images              shows complete pictures and running downloads, until all downloads are complete
//   images launched     the command with which Backhaul launches the program when the pictures are complete
//
// The pictures and the file images.log are in ~/Pictures/Backhaul. See examples/README.md.
import BackhaulURLSession
import Foundation

let arguments = CommandLine.arguments.dropFirst()

do {
    // Each run registers its own path as the launch command. If the program was moved, its next run corrects the path.
    var options = BackgroundApplication.Options()
    options.identifier = "org.example.images.swift"
    options.launch.arguments = ["launched"]
    try BackgroundApplication.shared.configure(options)

    let folder = try Folder()
    switch arguments.first {
    case "get" where arguments.count > 1:
        // `get` needs no delegate calls. A later run of the program gets them: the user starts this run, or Backhaul
        // launches it.
        let images = Images(folder, receivesEvents: false)
        try await images.register()
        var failed = false
        for url in arguments.dropFirst() {
            do {
                try await images.enqueueDownload(url)
            } catch {
                complain(error)
                failed = true
            }
        }
        exit(failed ? 1 : 0)
    case "launched" where arguments.count == 1:
        // This process handles the delegate calls, calls the completion handlers, and exits, because there is no user.
        folder.isLaunched = true
        try await Images(folder, receivesEvents: true).register()
    case nil:
        let images = Images(folder, receivesEvents: true)
        try await images.register()
        await images.show()
    default:
        FileHandle.standardError.write(Data("usage: images [get URL...]\n".utf8))
        exit(2)
    }
} catch {
    complain(error)
    exit(1)  // if Backhaul launched this program, Backhaul launches it again later
}

func complain(_ error: any Error) { FileHandle.standardError.write(Data("images: \(error)\n".utf8)) }
