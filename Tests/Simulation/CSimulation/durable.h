// The model of what a disk has of the files below the folder. files.c changes it with each call; durable.c keeps it.

#ifndef DURABLE_H
#define DURABLE_H

#include "simulated.h"
#include <sys/stat.h>

enum { MAXIMUM_VERSIONS = 4, PAGE = 4096 };

// A page of a file that the disk may not have yet. The file itself has the newest version.
struct page {
    uint64_t index;
    uint32_t count;                      // of versions
    bool is_lost;                        // a sync has failed: the disk has the first version, and the kernel forgot it
    uint8_t *versions[MAXIMUM_VERSIONS]; // the first is on the disk, the others may be; NULL: zeros
};

// A file or directory.
struct node {
    struct node *next;
    uint64_t inode;            // on the tmpfs
    uint64_t number;           // the inode that the program sees: the same in each run of a seed
    char *name;                // the last name; the path of a directory
    int64_t modified, changed; // nanoseconds since 1970
    bool is_directory;
    bool has_grave;      // a link in the folder of graves keeps the inode, because a removal is not on the disk
    uint32_t size_count; // 0: the disk has the file's size
    int64_t sizes[MAXIMUM_VERSIONS]; // the first is on the disk, the others may be
    struct page *pages;              // in the order of their indexes
    size_t page_count, page_room;
};

// A name that gets another inode; 0: none.
struct entry {
    struct node *directory;
    char *name;
    uint64_t before, after;
};

enum kind { CREATES, LINKS, RENAMES, UNLINKS };

// A call that changed one name or two names.
struct change {
    enum kind kind;
    struct node *subject;
    uint32_t entry_count;
    struct entry entries[2];
    bool is_chosen; // to be on the disk, during a sync or a power cut
};

enum { BUCKETS = 4096 };

extern struct durable {
    bool is_on; // sim_files_begin was called
    enum sim_file_system rules;
    char root[512];
    int graves; // a folder with links to files whose removal is not on the disk
    dev_t device;
    struct node *buckets[BUCKETS];
    uint64_t last_number;
    struct change *changes; // those that are not on the disk, in their order
    size_t change_count, change_room;
} durable;

// Returns the node of a file of this status, or NULL if the file is not followed.
struct node *durable_find(const struct stat *status);

// Adds a new file or directory, whose name is not on the disk.
void durable_create(struct node *directory, const char *name, const struct stat *status);

// Adds a change of one name or two names.
void durable_change(enum kind kind, struct node *subject, const struct entry *entries, size_t count);

// Keeps the inode of a name that is removed next. Afterwards, `durable_release` gives it up if nothing needs it.
void durable_bury(struct node *node, int directory, const char *path);
void durable_release(struct node *node);

// Takes the removal of an empty directory for a change that is on the disk at once, with all changes in it. The library
// removes directories only when it could not open a new store.
void durable_remove_directory(const struct node *directory);

// Keeps the bytes that a write or a truncation changes next.
void durable_before_write(struct node *node, int file, int64_t offset, size_t count);
void durable_before_truncate(struct node *node, int file, int64_t size);

// Syncs a file or directory; all files, if `node` is NULL. With `only_data`, as fdatasync(2).
void durable_sync(struct node *node, bool only_data);
void durable_fail_sync(struct node *node);

// The present calendar time in nanoseconds, with the precision of the kernel's time of files (4 ms).
int64_t durable_time(void);

// ---- For powercut.c and saved.c

struct node *durable_node(uint64_t inode);
struct node *durable_add(uint64_t inode, const char *name, bool is_directory);
const char *durable_grave_name(uint64_t inode, char name[32]);
bool durable_is_same_name(const struct entry *left, const struct entry *right);
bool durable_has_directory(const struct change *change, const struct node *directory);

// The chosen changes are on the disk now.
void durable_commit(void);

// Forgets the old versions of the pages and sizes.
void durable_forget(struct node *node);

// Returns the page's bytes in the file, with zeros after the end; NULL if the page is behind the end.
uint8_t *durable_read_page(int file, uint64_t index, int64_t size);
int64_t durable_size(int file);

#endif
