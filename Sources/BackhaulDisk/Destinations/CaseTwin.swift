internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// Files whose names differ only in case from the name of a download. In a directory that ignores case, the download
/// would replace such a file, which may belong to another download.
enum CaseTwin {
    /// Throws if a download to the existing file at this path would replace a file with another name.
    static func check(at path: String, _ files: FileSystem) throws(Failure) {
        let other: String?
        do throws(SystemError) {
            other = try twin(of: path, files)
        } catch {
            throw .disk(error, path)
        }
        guard let other else { return }
        throw .system(
            .destinationExists, code: EEXIST,
            "the file system of \(path) does not distinguish this name from \(other), which exists already; choose "
                + "another name")
    }

    /// The name of the existing file at this path; nil if it is exactly the name in the path. The names are listed only
    /// if the directory also finds the name in another case.
    private static func twin(of path: String, _ files: FileSystem) throws(SystemError) -> String? {
        let (directory, name) = (SplitPath(path).directory, SplitPath(path).name)
        let (lower, upper) = (name.lowercased(), name.uppercased())
        guard lower != upper else { return nil }
        do {
            guard try files.status(in: AT_FDCWD, directory + "/" + (name == lower ? upper : lower)) != nil else {
                return nil
            }
        } catch where [ENAMETOOLONG, EINVAL, EILSEQ].contains(error.code) {
            // The file system has no such names. The other case of a letter may have more bytes.
            return nil
        }
        let names = try DirectoryReader.textNames(in: directory)
        return names.contains(name) ? nil : names.first { $0.lowercased() == lower }
    }
}
