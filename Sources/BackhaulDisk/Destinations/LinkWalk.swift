internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Follows a path to a directory step by step, as the kernel does (path_resolution(7)), and checks the owner of each
/// symbolic link. In a directory that another user may change, this user could otherwise exchange a directory for a
/// link, and so choose where the file of a download is placed.
///
/// openat2(2) with RESOLVE_NO_SYMLINKS would refuse the user's own links, too, such as `current -> release-7`.
struct LinkWalk {
    /// A symbolic link that belongs neither to this user nor to root.
    struct StrangeLink: Equatable {
        let name: String
        let owner: UInt32
    }

    enum End {
        case directory(FileStatus)
        case strangeLink(StrangeLink)
    }

    /// The most links of a path, as in the kernel.
    private static let limit = 40

    let files: FileSystem

    /// Returns the directory at the end of the path, or the first strange link on the way.
    func follow(_ path: String) throws(SystemError) -> End {
        var place = try root()
        // The remaining names, the next one at the end.
        var rest = LinkWalk.reversedNames(path)
        var links = 0
        while let name = rest.popLast() {
            do throws(SystemError) {
                place = try files.openPlace(in: place.number, name, isLink: false)
                continue
            } catch {
                guard error.code == ENOTDIR || error.code == ELOOP else { throw error }
            }
            let link = try files.openPlace(in: place.number, name, isLink: true)
            let status = try files.status(link.number)
            links += 1
            guard status.isLink, links <= LinkWalk.limit else {
                throw SystemError(code: status.isLink ? ELOOP : ENOTDIR, messageStart: "cannot use the directory")
            }
            guard [0, geteuid()].contains(status.owner) else {
                return .strangeLink(StrangeLink(name: name, owner: status.owner))
            }
            let target = try files.target(ofLink: link.number)
            if target.utf8.first == UInt8(ascii: "/") { place = try root() }
            rest += LinkWalk.reversedNames(target)
        }
        return .directory(try files.status(place.number))
    }

    private func root() throws(SystemError) -> Descriptor { try files.openPlace(in: AT_FDCWD, "/", isLink: false) }

    private static func reversedNames(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(decoding: $0, as: UTF8.self) }
    }
}

extension DirectoryCache {
    /// Checks a directory that is not the directory of the enqueue: throws if another user may have led the path to it.
    static func checkLinks(to directory: OpenDirectory, _ files: FileSystem) throws(Failure) {
        let end: LinkWalk.End
        do throws(SystemError) {
            end = try LinkWalk(files: files).follow(directory.path)
        } catch {
            throw .disk(error, directory.path)
        }
        switch end {
        case .directory(let found) where found.isSameFile(as: directory.status): return
        case .directory: throw replacedFailure(directory.path)
        case .strangeLink(let link):
            throw Failure(
                .destinationUnavailable,
                "\(link.name) in the path \(directory.path) is now a symbolic link of the user \(link.owner), which is "
                    + "not followed; choose a directory whose parents only you can change")
        }
    }
}
