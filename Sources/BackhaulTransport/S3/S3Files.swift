internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Reads what the environment, the files of AWS and commands say about S3. The calls block.
enum S3Files {
    /// The longest time in which a command must print its credentials.
    private static let commandMilliseconds: Int64 = 60_000
    private static let fileLimit = 1 << 20

    static func variable(_ name: String) -> String? { Environment.variable(name) }

    static func resolution(of settings: S3Settings) throws(Failure) -> S3Resolution {
        let profiles = AWSProfiles(
            config: text(of: path("AWS_CONFIG_FILE", "/.aws/config")) ?? "",
            credentials: text(of: path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials")) ?? "")
        return try S3Resolution(settings, variable, profiles)
    }

    private static func path(_ name: String, _ standard: String) -> String? {
        if let given = variable(name), !given.isEmpty {
            return given.hasPrefix("~/") ? Environment.home.map { $0 + given.dropFirst() } : given
        }
        return Environment.home.map { $0 + standard }
    }

    /// The text of a file; nil if there is none, or if it cannot be read.
    static func text(of path: String?) -> String? {
        guard let path else { return nil }
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= fileLimit {
            let count = read(number, &room, room.count)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            guard count > 0 || errno == EINTR else { return nil }
            bytes += room.prefix(max(0, count))
        }
        return nil
    }

    /// Runs a command that prints credentials.
    static func credentials(from command: String) throws(Failure) -> S3Credentials {
        let process: DetachedProcess
        do throws(SystemError) {
            // The output is read from the file that otherwise has the texts of stderr.
            process = try DetachedProcess.start(
                program: "/bin/sh", arguments: ["-c", "exec 1>&2 2>/dev/null\n" + command],
                environment: Environment.entries, workingDirectory: Environment.home ?? "/", umask: 0o077,
                keepsErrors: true)
        } catch {
            throw S3Resolution.missing("the command for credentials cannot be started: \(error)")
        }
        guard process.waitForEnd(until: .after(milliseconds: commandMilliseconds)) else {
            process.kill()
            throw S3Resolution.missing(
                "the command for credentials did not end within \(commandMilliseconds / 1_000) seconds")
        }
        guard let credentials = S3Credentials(json: process.output(atMost: 64 << 10)) else {
            throw S3Resolution.missing(
                "the command for credentials printed no JSON with AccessKeyId and SecretAccessKey; run it to see why")
        }
        return credentials
    }
}
