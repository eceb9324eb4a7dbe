// The journal of a testbed: what its daemons have changed in the files below the testbed's directory, and what they
// have synced. The daemons append to the file `journal`. When the power fails, the kit undoes what was not synced.

#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdint.h>

// A random number.
#define JOURNAL_MARK 0x7d0a5e4c93b1f826

enum journal_kind {
    JOURNAL_WRITTEN, // a file was written or cut. The bytes that were there before follow the record
    JOURNAL_CREATED, // a file or directory was made
    JOURNAL_RENAMED, // another change of one name or two names
    JOURNAL_SYNCED,  // all earlier changes of a file or directory are on the disk
};

struct journal_record {
    uint64_t mark; // JOURNAL_MARK. If a daemon is killed while it appends a record, the next record follows too early
    uint32_t kind;
    uint32_t size;          // of the bytes after the record. Names: the paths of both names, each with a NUL at its end
    uint64_t file;          // the inode; 0: all files are synced
    int64_t offset, length; // WRITTEN: the place of the earlier bytes, and the length of the file before
    // The inodes of names before and after the change; 0: none. The second name may be missing: directory 0.
    struct journal_name {
        uint64_t directory, before, after;
    } names[2];
};

// Files of the testbed's directory: the journal, a folder with links to removed files, named by their inodes, and the
// id of the boot.
#define JOURNAL_FILE "journal"
#define JOURNAL_REMOVED "removed"
#define JOURNAL_BOOT "boot_id"

#endif
