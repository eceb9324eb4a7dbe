internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Files whose names differ only in case from the name of a download. In a directory that ignores case, the download
/// would replace such a file, which may belong to another download.
enum CaseTwin {
    /// The failure of a download that would replace the existing file at this path; nil if that file has exactly this
    /// name. The names are listed only if the directory also finds the name in another case.
    static func failure(at path: String, _ files: FileSystem) -> Failure? {
        let (directory, name) = (SplitPath(path).directory, SplitPath(path).name)
        let (lower, upper) = (name.lowercased(), name.uppercased())
        let twin = directory + "/" + (name == lower ? upper : lower)
        guard lower != upper, (try? files.status(in: AT_FDCWD, twin)) != nil,
            let names = try? DirectoryReader.textNames(in: directory), !names.contains(name),
            let other = names.first(where: { $0.lowercased() == lower })
        else { return nil }
        return .system(
            .destinationExists, code: EEXIST,
            "the file system of \(path) does not distinguish this name from \(other), which exists already; choose "
                + "another name")
    }
}
