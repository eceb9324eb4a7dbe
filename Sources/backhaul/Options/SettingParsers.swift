import Backhaul

// Settings that several options change, and options that change several settings.

extension Setting {
    static func attempts(_ arguments: Arguments) throws(CommandError) -> Int?? {
        if arguments.has("retry") && arguments.has("attempts") {
            throw .usage("--retry and --attempts exclude each other")
        }
        if let retries = try arguments.number("retry", in: 0...999_999) { return Int(retries) + 1 }
        return try arguments.setting("attempts", in: 0...1_000_000)
    }

    static let redirectCount = Setting(
        "rules.maximum_redirects",
        [OptionDescription("max-redirs", nil, "NUMBER", "how many redirects are followed (20); 0: none")],
        json: { .number($0.rules.maximumRedirects) }
    ) { (arguments) throws(CommandError) in
        // 0 is a setting of `redirects`, because in `maximumRedirects` it is the default.
        if arguments.value("max-redirs") == "0" { return { $0.rules.redirects = .never } }
        guard let count = try arguments.setting("max-redirs", in: 0...100) else { return nil }
        let hasPolicy = arguments.has("redirects")
        return {
            $0.rules.maximumRedirects = count
            // An earlier --max-redirs 0 is taken back.
            if $0.rules.redirects == .never && !hasPolicy { $0.rules.redirects = nil }
        }
    }

    static func preset(_ arguments: Arguments) throws(CommandError) -> Preset?? {
        let presets = ["discretionary", "overnight", "preset"].filter { arguments.has($0) }
        guard presets.count <= 1 else { throw .usage("--\(presets[0]) and --\(presets[1]) exclude each other") }
        if arguments.has("discretionary") { return .discretionary }
        if arguments.has("overnight") { return .overnight }
        return try arguments.choice("preset", [("none", nil)] + Preset.words.map { ($0.word, $0.value) }) ?? .some(nil)
    }

    /// The URL of the proxy. As in curl, a proxy without a scheme is an HTTP proxy.
    static func proxyURL(_ arguments: Arguments) throws(CommandError) -> String?? {
        guard let text = arguments.value("proxy") else { return nil }
        // In aria2, -x is a number of connections.
        if Int(text) != nil {
            throw .usage("--proxy (-x) takes a URL, not '\(text)'; --connections limits connections")
        }
        return text == "none" || text.contains("://") ? text : "http://" + text
    }

    static func proxyUser(_ arguments: Arguments) -> Change? {
        guard let text = arguments.value("proxy-user") else { return nil }
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return {
            $0.proxy.user = words[0].unlessEmpty
            $0.proxy.password = words[0].isEmpty ? nil : words.dropFirst().first
        }
    }

    static func proxyPassword(_ arguments: Arguments) throws(CommandError) -> Change? {
        guard let file = arguments.value("proxy-password-file") else { return nil }
        if file.isEmpty { return { $0.proxy.password = nil } }
        guard arguments.value("proxy-user")?.contains(":") == false else {
            throw .usage("--proxy-password-file goes with --proxy-user that has no password")
        }
        let password = try InputFile.password(file)
        return { $0.proxy.password = $0.proxy.user == nil ? nil : password }
    }
}

extension SessionConfiguration {
    /// The URL of the proxy. The credential of an earlier proxy is not sent to the new one.
    var otherProxy: String? {
        get { proxy.url }
        set {
            proxy.url = newValue
            proxy.user = nil
            proxy.password = nil
        }
    }

    /// The client's certificate. A new certificate does not have the key of an earlier one.
    var ownCertificate: String? {
        get { tls.clientCertificate }
        set {
            tls.clientCertificate = newValue
            tls.clientKey = nil
        }
    }

    /// Without a value, the session asks for credentials, because a user can give one.
    var asksAtTerminal: Bool? {
        get { asksForCredentials }
        set { asksForCredentials = newValue ?? true }
    }

    var statedTolerances: Tolerances? {
        get { tolerances }
        set { tolerances = newValue ?? [] }
    }

    var historyCount: Int? {
        get {
            switch historyLimit {
            case .noTasks: 0
            case .tasks(let count): count
            case nil: nil
            }
        }
        set { historyLimit = newValue.map { $0 == 0 ? .noTasks : .tasks($0) } }
    }
}

extension String {
    /// The text, or nil if it is empty. Nil stands for the default.
    var unlessEmpty: String? { isEmpty ? nil : self }
}
