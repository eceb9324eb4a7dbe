import Backhaul

/// The options of `get`, `add` and `put` for transfers that wait for other transfers.
struct DependencyOptions {
    static let descriptions = [
        OptionDescription("after", nil, "TASK", "wait until transfer TASK has succeeded; may be repeated", kind: .task),
        OptionDescription(
            "after-failure", nil, "fail|cancel|ignore", "what to do if it does not succeed (fail); ignore: run anyway"),
        OptionDescription(
            "url-from", nil, "PLACE",
            "take the URL from the response to the first --after: url, body, header:NAME or json:/POINTER"),
        OptionDescription(
            "header-from", nil, "'NAME: PLACE'", "take the value of a header from there; may be repeated"),
        OptionDescription("body-from", nil, "PLACE", "take the body from there"),
    ].map { $0.section(.start) }

    private let dependencies: [Dependency]

    /// Whether the request's body comes from a response.
    var givesBody: Bool { dependencies.contains { $0.body != nil } }

    init(_ arguments: Arguments) throws(CommandError) {
        var dependencies: [Dependency] = []
        let failure = try DependencyOptions.failure(arguments.value("after-failure"))
        for text in arguments.all("after") {
            guard let id = UInt64(text), id > 0 else {
                throw .usage("--after takes the number of a transfer, as `backhaul tasks` lists it, not '\(text)'")
            }
            dependencies.append(Dependency(.id(TaskID(rawValue: id)), ifFails: failure))
        }
        let names = ["after-failure", "url-from", "header-from", "body-from"]
        if let name = names.first(where: arguments.has), dependencies.isEmpty {
            throw .usage("--\(name) goes with --after TASK")
        }
        if !dependencies.isEmpty {
            dependencies[0].url = try arguments.value("url-from").map { text throws(CommandError) in
                try DependencyOptions.place(text, "url-from")
            }
            dependencies[0].body = try arguments.value("body-from").map { text throws(CommandError) in
                try DependencyOptions.place(text, "body-from")
            }
            for text in arguments.all("header-from") {
                let header = try InputFile.header(text)
                dependencies[0].headers[header.name] = try DependencyOptions.place(header.value, "header-from")
            }
        }
        self.dependencies = dependencies
    }

    func change(_ request: inout Request) { request.after = dependencies }

    private static func failure(_ word: String?) throws(CommandError) -> Dependency.Failure {
        switch word {
        case nil, "fail": .fail
        case "cancel": .cancel
        case "ignore": .ignore
        case let word?: throw .usage("--after-failure takes fail, cancel or ignore, not '\(word)'")
        }
    }

    private static func place(_ text: String, _ option: String) throws(CommandError) -> Dependency.Place {
        switch text {
        case "url": return .url
        case "body": return .body
        case _ where text.hasPrefix("header:"): return .header(String(text.dropFirst("header:".count)))
        case _ where text.hasPrefix("json:/"): return .json(String(text.dropFirst("json:".count)))
        default: throw .usage("--\(option) takes url, body, header:NAME or json:/POINTER, not '\(text)'")
        }
    }
}
