import Backhaul
import enum BackhaulModel.ServerFileName

/// The name of a transfer in messages.
struct TransferName {
    let task: TaskInfo

    /// The name at the start of a sentence: "Download 2 (02-map.bin from example.org, 0 B of 4.0 MB)".
    var text: String { (task.isUpload ? "Upload " : "Download ") + "\(task.id) (\(description))" }

    /// The name in a list: "download 2: 02-map.bin from example.org, 0 B of 4.0 MB".
    var item: String { (task.isUpload ? "upload " : "download ") + "\(task.id): \(description)" }

    /// A phrase about the bytes that were moved so far, such as "the received part (3.0 MB)". Nil if no bytes were
    /// moved.
    var kept: String? {
        task.done > 0 ? "the \(task.isUpload ? "sent" : "received") part (\(Text.size(task.done)))" : nil
    }

    private var description: String {
        place + ", \(Text.size(task.done)) of \(task.total.map { Text.size($0) } ?? "?")"
    }

    /// The file and the server, such as "02-map.bin from example.org".
    var place: String {
        let file = TransferName.file(of: task)
        let host = Text.visible(TransferName.host(of: task.url))
        return host.isEmpty ? file : "\(file) \(task.isUpload ? "to" : "from") \(host)"
    }

    /// The last component of the task's destination. If the task has no destination, a name derived from its URL.
    static func file(of task: TaskInfo) -> String {
        let name = task.destination.flatMap { $0.split(separator: "/").last.map { String($0) } }
        return Text.visible(name ?? file(of: task.url))
    }

    /// The name of the file with this URL.
    static func file(of url: String) -> String { ServerFileName.from(url: url) ?? "index.html" }

    /// The host name and port of a URL, without a user.
    static func host(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return String(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
    }
}
