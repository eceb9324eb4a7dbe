// The host of StoryTests: two downloads. The second one needs a credential, and begins when the first one has ended.
//
//   StoryProgram FIRST SECOND FOLDER
import Backhaul

let words = Array(CommandLine.arguments[1...])
let (first, second, folder) = (words[0], words[1], words[2])
let command = LaunchCommand(program: CommandLine.arguments[0], arguments: words)
let application = try await Application.open("org.example.photos", launch: command)
let launch = try await application.currentLaunch()
var gallery = SessionConfiguration(identifier: "gallery")
gallery.asksForCredentials = true
let session = try await application.createSession(gallery)
if launch == nil { try await session.download(first, to: folder + "/1.jpg", key: "1") }
for challenge in try await session.challenges() {
    try await session.respond(to: challenge, with: .credential(user: "me", password: "secret"))
}
for try await event in session.events {
    try await session.acknowledge(event)
    guard case .sessionFinished(let end) = event else { continue }
    if end.round == 1 { try await session.download(second, to: folder + "/2.jpg", key: "2") }
    break
}
try await session.complete()
await application.close()
