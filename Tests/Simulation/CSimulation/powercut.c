// The power cut: chooses what the disk has, and changes the files accordingly.

#define _GNU_SOURCE
#include "durable.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fate { LOST, KEPT, MIXED };

static enum fate world_fate;
static uint64_t cut_seed, chance;
static int story = -1;

static uint64_t random_below(uint64_t limit) { return sim_next_random(&chance) % limit; }

static void choose_ordered(enum fate fate) {
    size_t kept = fate == LOST ? 0 : fate == KEPT ? durable.change_count : random_below(durable.change_count + 1);
    for (size_t i = 0; i < durable.change_count; i++) durable.changes[i].is_chosen = i < kept;
}

// The first change of a directory that is lost makes the later ones lost, too.
static void choose_strict(enum fate fate) {
    const struct node **cut = calloc(3 * durable.change_count + 1, sizeof *cut);
    size_t count = 0;
    for (size_t i = 0; i < durable.change_count; i++) {
        bool keeps = fate != LOST && (fate == KEPT || random_below(4));
        for (size_t j = 0; j < count; j++) keeps &= !durable_has_directory(&durable.changes[i], cut[j]);
        durable.changes[i].is_chosen = keeps;
        if (keeps) continue;
        for (uint32_t j = 0; j < durable.changes[i].entry_count; j++)
            cut[count++] = durable.changes[i].entries[j].directory;
        if (durable.changes[i].subject->is_directory) cut[count++] = durable.changes[i].subject;
    }
    free(cut);
}

static void tell_of_changes(void) {
    static const char *const words[] = {"the new", "the link", "the rename to", "the removal of"};
    for (size_t i = 0; i < durable.change_count; i++) {
        const struct entry *entry = &durable.changes[i].entries[durable.changes[i].entry_count - 1];
        dprintf(story, "%s: %s %s/%s\n", durable.changes[i].is_chosen ? "kept" : "lost", words[durable.changes[i].kind],
                entry->directory->name + strlen(durable.root), entry->name);
    }
}

// Returns the inode that the disk has for the name: of the last chosen change, or else from before the first change.
static uint64_t inode_on_disk(const struct entry *name) {
    uint64_t inode = 0;
    bool is_first = true;
    for (size_t i = 0; i < durable.change_count; i++)
        for (uint32_t j = 0; j < durable.changes[i].entry_count; j++) {
            const struct entry *entry = &durable.changes[i].entries[j];
            if (!durable_is_same_name(entry, name)) continue;
            if (is_first) inode = entry->before;
            if (durable.changes[i].is_chosen) inode = entry->after;
            is_first = false;
        }
    return inode;
}

static void path_of(const struct entry *entry, char path[4096]) {
    snprintf(path, 4096, "%s/%s", entry->directory->name, entry->name);
}

static uint64_t present_inode(const char *path) {
    struct stat status;
    return REAL(fstatat)(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) ? 0 : status.st_ino;
}

// First removes names, then makes names, and last removes directories, so that each step is possible.
static void change_name(const struct entry *entry, int step) {
    char path[4096], name[32];
    path_of(entry, path);
    uint64_t present = present_inode(path), wanted = inode_on_disk(entry);
    if (present == wanted) return;
    struct node *node = durable_node(present);
    if (step == 0 && present && !node->is_directory) {
        durable_bury(node, AT_FDCWD, path);
        REAL(unlinkat)(AT_FDCWD, path, 0);
    }
    if (step == 1 && wanted && REAL(linkat)(durable.graves, durable_grave_name(wanted, name), AT_FDCWD, path, 0))
        abort();
    if (step == 2 && present && REAL(unlinkat)(AT_FDCWD, path, AT_REMOVEDIR)) abort();
}

static void lose_names(enum fate fate) {
    if (durable.rules == SIM_ORDERED)
        choose_ordered(fate);
    else
        choose_strict(fate);
    tell_of_changes();
    for (int step = 0; step < 3; step++)
        for (size_t i = durable.change_count; i-- > 0;) // the last directory is the innermost
            for (uint32_t j = 0; j < durable.changes[i].entry_count; j++)
                change_name(&durable.changes[i].entries[j], step);
}

static int64_t choose_size(const struct node *node, enum fate fate, int64_t size) {
    if (!node->size_count || fate == KEPT) return size;
    uint64_t choice = fate == LOST ? 0 : random_below(node->size_count + 1);
    return choice < node->size_count ? node->sizes[choice] : size;
}

// Chooses a version of a page, or bytes of two versions: a disk writes sectors of 512 bytes.
static void choose_bytes(const struct page *page, const uint8_t *newest, enum fate fate, uint8_t bytes[PAGE]) {
    static const uint8_t zeros[PAGE];
    const uint8_t *versions[MAXIMUM_VERSIONS + 1];
    uint32_t count = page->count;
    for (uint32_t i = 0; i < count; i++) versions[i] = page->versions[i] ? page->versions[i] : zeros;
    if (newest && !page->is_lost) versions[count++] = newest;
    bool is_torn = fate == MIXED && !random_below(4);
    uint64_t one = fate == LOST || page->is_lost ? 0 : fate == KEPT ? count - 1 : random_below(count);
    uint64_t other = is_torn && !page->is_lost ? random_below(count) : one;
    uint64_t first = random_below(9);
    bool is_scattered = random_below(2);
    for (uint64_t i = 0; i < 8; i++) {
        bool is_one = is_scattered ? random_below(2) : i < first;
        memcpy(bytes + i * 512, versions[is_one ? one : other] + i * 512, 512);
    }
}

static void lose_content(struct node *node, int file, enum fate fate) {
    int64_t size = durable_size(file), chosen = choose_size(node, fate, size);
    size_t changed = 0;
    for (size_t i = 0; i < node->page_count; i++) {
        uint8_t bytes[PAGE], *newest = durable_read_page(file, node->pages[i].index, size);
        choose_bytes(&node->pages[i], newest, fate, bytes);
        off_t start = (off_t)node->pages[i].index * PAGE;
        if (start < chosen) {
            changed += !newest || memcmp(newest, bytes, PAGE);
            if (REAL(pwrite)(file, bytes, PAGE, start) < 0) abort();
        }
        free(newest);
    }
    if (REAL(ftruncate)(file, chosen)) abort();
    dprintf(story, "%s has %zu of %zu unsynced pages that are not the newest; its size is %lld of %lld\n", node->name,
            changed, node->page_count, (long long)chosen, (long long)size);
    durable_forget(node);
}

static int lose_file(const char *path, const struct stat *status, int type, struct FTW *place) {
    struct node *node = durable_node(status->st_ino);
    (void)type, (void)place;
    if (!node || (!node->page_count && !node->size_count)) return 0;
    chance = cut_seed + node->number; // the order of the files does not matter
    enum fate fate = world_fate == MIXED ? (enum fate)random_below(4) : world_fate;
    chmod(path, 0600);
    int file = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (file < 0) abort();
    lose_content(node, file, fate < MIXED ? fate : MIXED);
    fchmod(file, status->st_mode & 07777);
    REAL(close)(file);
    return 0;
}

void sim_power_cut(uint64_t seed, int descriptor) {
    cut_seed = chance = seed * 0x9e3779b97f4a7c15;
    story = descriptor;
    world_fate = (enum fate)random_below(4);
    if (world_fate > MIXED) world_fate = MIXED;
    lose_names(world_fate);
    if (nftw(durable.root, lose_file, 16, FTW_PHYS)) abort();
    for (size_t i = 0; i < durable.change_count; i++) durable.changes[i].is_chosen = true;
    durable_commit();
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct node *node = durable.buckets[i]; node; node = node->next) durable_release(node);
}
