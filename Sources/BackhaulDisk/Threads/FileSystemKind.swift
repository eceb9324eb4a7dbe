internal import CLinux
internal import Glibc

/// The type of a mounted file system, by its name in the kernel, such as "ext4".
public enum FileSystemKind {
    /// Returns the type of the file system with a directory. Nil if the directory cannot be opened, before Linux 5.8,
    /// and in a chroot whose list of mounts does not have the mount.
    public static func name(at path: String) -> String? {
        let number = bhl_open(path, O_RDONLY | O_DIRECTORY, 0)
        guard number >= 0 else { return nil }
        defer { close(number) }
        return MountTable.text.flatMap { MountTable.entry(bhl_mount_id(number), in: $0)?.type }
    }
}
