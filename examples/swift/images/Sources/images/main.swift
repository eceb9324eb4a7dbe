// Press download, leave, come back, the picture is there.
//
//   images get URL...   hands the pictures over and ends at once
//   images              shows what is there and what is on its way, live, until all of it is there
//   images launched     how Backhaul starts it when the pictures are there; nobody else needs to
//
// The pictures lie in ~/Pictures/Backhaul, with images.log beside them. See examples/README.md for the story.
import BackhaulURLSession
import Foundation

let arguments = CommandLine.arguments.dropFirst()

do {
    // Each start says anew what is to be launched: this very file. So a program that was moved is found after its next.
    var options = BackgroundApplication.Options()
    options.identifier = "org.example.images.swift"
    options.launch.arguments = ["launched"]
    try BackgroundApplication.shared.configure(options)

    let folder = try Folder()
    switch arguments.first {
    case "get" where arguments.count > 1:
        // The button needs no messages: they are for the program that is open, or launched.
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
        // Nobody looks: hear what has happened, say that nothing is outstanding, and be gone.
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
    exit(1)  // a launched program that has not completed is launched again, later
}

func complain(_ error: any Error) { FileHandle.standardError.write(Data("images: \(error)\n".utf8)) }
