import Backhaul
import CLinux

@testable import BackhaulDisk
@testable import backhaul

/// Valid lists, which are made from the bytes of an input. Each must be read as what was written.
enum WrittenLists {
    /// The kernel's list of mounts (proc_pid_mountinfo(5)).
    static func mounts(_ bytes: [UInt8]) throws {
        var (input, text, points, devices) = (FuzzInput(bytes), [UInt8](), [[UInt8]](), [UInt64]())
        var entries: [MountTable.Entry] = []
        for id in 0...input.byte() % 4 {
            let point = Array("/".utf8) + input.bytes().filter { $0 != 0 }
            let (major, minor) = (UInt32(input.byte()) << 4, UInt32(input.byte()) << 12 | UInt32(input.byte()))
            let root = "/" + input.text(of: Array("ab \\\t-é"), atMost: 5)
            let type = input.choice(["ext4", "fuse.sshfs", "-", "nfs4"])
            let source = input.choice(["host:/a b", "/dev/sda1", "none", "-"])
            let optional = input.choice(["", "shared:1 ", "shared:1 master:2 "])
            text += Array("\(id) 35 \(major):\(minor) \(escaped(root)) ".utf8)
            text += escaped(point)
            text += Array(" rw,noatime \(optional)- \(type) \(escaped(source)) rw,errors=continue\n".utf8)
            points.append(point)
            devices.append(bhl_make_device(major, minor))
            entries.append(.init(type: type, source: source.hasPrefix("/dev/") ? "" : source, root: root))
        }
        let parsed = MountTable.parse(text)
        try requireEqual(parsed.map(\.point), points, "the mount points")
        try requireEqual(parsed.map(\.device), devices, "the devices")
        for (id, entry) in entries.enumerated() {
            try requireEqual(MountTable.entry(Int64(id), in: text), entry, "the mount \(id)")
        }
    }

    /// The kernel writes these bytes as octal numbers.
    private static func escaped(_ path: [UInt8]) -> [UInt8] {
        let escapes: [UInt8: String] = [0x20: "\\040", 0x09: "\\011", 0x0A: "\\012", 0x5C: "\\134"]
        return path.flatMap { (byte: UInt8) -> [UInt8] in escapes[byte].map { Array($0.utf8) } ?? [byte] }
    }

    private static func escaped(_ path: String) -> String {
        String(decoding: escaped(Array(path.utf8)), as: UTF8.self)
    }

    /// A list as sha256sum(1), sha512sum(1) or the tools of BSD print it.
    static func checksums(_ bytes: [UInt8]) throws {
        var (input, text, expected) = (FuzzInput(bytes), "", [(url: String, checksum: Checksum)]())
        for number in 0...input.byte() % 4 {
            let isLong = input.flag()
            let digits = digits(&input, isLong ? 128 : 64)
            let checksum: Checksum = isLong ? .sha512(digits.lowercased()) : .sha256(digits.lowercased())
            // The number makes the name unique, and the letter after it ends the name.
            let name = "a\(number)" + input.text(of: Array("ab ()=.-_é日"), atMost: 20) + "z"
            let path = input.choice(["", "./", "pool/", "/a b/"]) + name
            switch input.byte() % 3 {
            case 0: text += "\(digits)  \(path)"
            case 1: text += "\(digits) *\(path)"
            default: text += "\(isLong ? "SHA512" : "SHA256") (\(path)) = \(digits)"
            }
            text += input.choice(["\n", "\r\n", "\n# SHA256SUMS\n", "\n-----BEGIN PGP SIGNATURE-----\n\n"])
            expected.append(("https://example.org/" + name.replacing(" ", with: "%20"), checksum))
        }
        let list = try ChecksumList(Array(text.utf8), name: "list")
        for (url, checksum) in expected {
            try requireEqual(try list.checksum(of: url, file: nil), checksum, "the checksum of \(url) in \(text)")
        }
    }

    private static func digits(_ input: inout FuzzInput, _ count: Int) -> String {
        String((0..<count).map { _ in input.choice(Array("0123456789abcdefABCDEF")) })
    }

    /// A list for `--input`: URLs with options below them, and lines of JSON.
    static func inputList(_ bytes: [UInt8]) throws {
        var (input, text, expected) = (FuzzInput(bytes), "", [[String]]())
        for _ in 0...input.byte() % 4 {
            let end = input.choice(["\n", "\r\n", "\r", "\n\n", "\n# b\n"])
            let scheme = input.choice(["https", "http", "s3"])
            let url = scheme + "://example.org/" + input.text(of: urlCharacters, atMost: 20)
            var fields: [(name: String, value: String)] = []
            for name in ["output", "directory", "checksum", "header"] where input.byte() % 3 == 0 {
                let value = name == "checksum" ? "sha-256:" + digits(&input, 64) : value(&input)
                fields.append((name, value))
            }
            text += input.flag() ? json(url, fields, &input) + end : lines(url, fields, end, &input)
            let values = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
            let header = values["header"].map { "N: \($0)" } ?? ""
            let checksum = values["checksum"]?.lowercased() ?? ""
            expected.append([url, values["output"] ?? "", values["directory"] ?? "", checksum, header])
        }
        let list = try UserTexts.withFile(Array(text.utf8), InputList.init)
        try requireEqual(list.problems, [], "the problems of \(text)")
        let found = list.items.map { (item: DownloadItem) -> [String] in
            let output = item.output?.path(of: item.url, number: 1) ?? ""
            let headers = item.headers.map { "\($0.name): \($0.value)" }.joined()
            return [item.url, output, item.directory ?? "", item.checksum.map(Self.text) ?? "", headers]
        }
        try requireEqual(found, expected, "the items of \(text)")
    }

    private static func text(_ checksum: Checksum) -> String {
        switch checksum {
        case .sha256(let digits): "sha-256:" + digits
        case .sha512(let digits): "sha-512:" + digits
        }
    }

    private static let urlCharacters = Array("ab09-._~%/?=&é日")

    private static func value(_ input: inout FuzzInput) -> String {
        "a" + input.text(of: Array("ab ,=:\"\\#é日🎉\u{2028}"), atMost: 12) + "z"
    }

    private static func lines(
        _ url: String, _ fields: [(name: String, value: String)], _ end: String, _ input: inout FuzzInput
    ) -> String {
        let names = ["output": "out=", "directory": "dir=", "checksum": "checksum=", "header": "header=N: "]
        let mirror = input.byte() % 4 == 0 ? "\thttps://mirror.example/" : ""
        let indent = input.choice([" ", "\t", "  "])
        return input.choice(["", " ", "\t"]) + url + mirror + end
            + fields.map { indent + names[$0.name, default: ""] + $0.value + end }.joined()
    }

    private static func json(
        _ url: String, _ fields: [(name: String, value: String)], _ input: inout FuzzInput
    ) -> String {
        let gap = input.choice(["", " "])
        var members = ["\"url\":\(gap)" + quoted(url, &input)]
        for (name, value) in fields {
            let text = quoted(value, &input)
            members.append(name == "header" ? "\"headers\":\(gap){\"N\":\(text)}" : "\"\(name)\":\(gap)\(text)")
        }
        return "{" + members.joined(separator: "," + gap) + "}"
    }

    private static func quoted(_ text: String, _ input: inout FuzzInput) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if "\"\\".unicodeScalars.contains(scalar) {
                quoted += "\\\(scalar)"
            } else if input.byte() % 4 == 0 {
                let units = String(scalar).utf16.map { String(0x10000 + UInt32($0), radix: 16).suffix(4) }
                quoted += units.map { "\\u" + $0 }.joined()
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
