// An image downloader: the user starts a download and closes the program, and the picture arrives without it.
//
//   images get URL...   enqueues the pictures and exits
//   images              shows complete pictures and running downloads until all are complete
//   images launched     how the engine launches it when the pictures are complete
//
// The pictures are in ~/Pictures/Backhaul, with images.log beside them. See examples/README.md.
import BackhaulURLSession
import Foundation

let arguments = CommandLine.arguments.dropFirst()

do {
    // Each run registers its own file as the launch command, so a program that was moved is found after its next run.
    var options = BackgroundApplication.Options()
    options.identifier = "org.example.images.swift"
    options.launch.arguments = ["launched"]
    try BackgroundApplication.shared.configure(options)

    let folder = try Folder()
    switch arguments.first {
    case "get" where arguments.count > 1:
        // Enqueuing needs no delegate calls. They are for the program that the user opens, or that is launched.
        let images = Images(folder, hears: false)
        try await images.register()
        var failed = false
        for url in arguments.dropFirst() {
            do {
                try await images.handOver(url)
            } catch {
                complain(error)
                failed = true
            }
        }
        exit(failed ? 1 : 0)
    case "launched" where arguments.count == 1:
        // Without a user: handles the delegate calls, completes the session, and exits.
        folder.isLaunched = true
        try await Images(folder, hears: true).register()
    case nil:
        let images = Images(folder, hears: true)
        try await images.register()
        await images.show()
    default:
        FileHandle.standardError.write(Data("usage: images [get URL...]\n".utf8))
        exit(2)
    }
} catch {
    complain(error)
    exit(1)  // a launched program that has not completed is launched again later
}

func complain(_ error: any Error) { FileHandle.standardError.write(Data("images: \(error)\n".utf8)) }
