internal import BackhaulModel
internal import BackhaulPlatform
internal import Glibc

/// The owner, permissions, ACL and extended attributes of a file that replaces another one.
extension FileSystem {
    private static let accessList = "system.posix_acl_access"
    /// Attributes that belong to the content of the replaced file, or that would give rights to the new content.
    private static let contentAttributes: Set<String> = [
        accessList, "security.capability", "security.ima", "security.evm",
    ]

    /// Gives the new file the attributes of the file that it will replace. An attribute that cannot be copied is left
    /// out, and then the new file has no more rights than the replaced one. The mode is set last, because it may take
    /// away the right to open the file.
    func copyAttributes(
        of old: FileStatus, named name: String, in directory: Int32, to new: Descriptor, _ status: FileStatus,
        _ mode: FileMode
    ) throws(SystemError) {
        let hasGroup = takeOwner(of: old, new.number, status)
        let source = try? openForReading(in: directory, name)
        let names = source.flatMap { try? attributeNames(of: $0.number) }
        for name in names ?? [] where !Self.contentAttributes.contains(name) {
            guard let source, let value = try? attribute(name, of: source.number) else { continue }
            try? setAttribute(name, of: new.number, value)
        }
        guard mode.isDefault else { return try changeMode(new.number, mode.bits) }
        var bits = old.mode & 0o777
        if names?.contains(Self.accessList) == true {
            // With an ACL, the group's bits of the mode are the mask of all named users and groups.
            guard hasGroup, let source, let list = try? attribute(Self.accessList, of: source.number),
                (try? setAttribute(Self.accessList, of: new.number, list)) != nil
            else { return try changeMode(new.number, Self.withoutGroup(bits)) }
        } else if !hasGroup || names == nil {
            bits = Self.withoutGroup(bits)
        }
        try changeMode(new.number, bits)
    }

    /// Gives the group only the rights that all users have.
    private static func withoutGroup(_ bits: UInt32) -> UInt32 { bits & (0o707 | (bits & 0o7) << 3) }

    /// Returns whether the new file has the group of the old one.
    private func takeOwner(of old: FileStatus, _ new: Int32, _ status: FileStatus) -> Bool {
        guard old.owner != status.owner || old.group != status.group else { return true }
        if (try? changeOwner(new, old.owner, old.group)) != nil { return true }
        return old.group == status.group || (try? changeOwner(new, nil, old.group)) != nil
    }
}

/// The extended attribute that has a POSIX ACL (acl(5); linux/posix_acl_xattr.h): a version, and then entries of tag,
/// permissions and id.
enum AccessList {
    private enum Tag: UInt16 {
        case owner = 0x01
        case group = 0x04
        case mask = 0x10
        case other = 0x20
    }

    /// The owner's, group's and others' permissions of the ACL. If the ACL has a mask, the mask has the place of the
    /// group. Nil if this is not an ACL.
    static func permissionBits(_ attribute: [UInt8]) -> UInt32? {
        guard attribute.count > 4, attribute.count % 8 == 4, attribute.starts(with: [2, 0, 0, 0]) else { return nil }
        var found: [Tag: UInt32] = [:]
        for entry in stride(from: 4, to: attribute.count, by: 8) {
            let tag = UInt16(attribute[entry]) | UInt16(attribute[entry + 1]) << 8
            if let tag = Tag(rawValue: tag) { found[tag] = UInt32(attribute[entry + 2] & 7) }
        }
        guard let owner = found[.owner], let group = found[.mask] ?? found[.group], let other = found[.other] else {
            return nil
        }
        return owner << 6 | group << 3 | other
    }
}
