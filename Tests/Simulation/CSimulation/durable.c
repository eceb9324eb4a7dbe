// What a disk has of the files: the old versions of pages and sizes since the last sync, and the changes of names since
// they were on the disk.

#define _GNU_SOURCE
#include "durable.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct durable durable = {.graves = -1};

int64_t durable_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return ((int64_t)time.tv_sec * 1000000000 + time.tv_nsec) / 4000000 * 4000000;
}

// ---- Nodes

struct node *durable_node(uint64_t inode) {
    struct node *node = durable.buckets[inode % BUCKETS];
    while (node && node->inode != inode) node = node->next;
    return node;
}

struct node *durable_find(const struct stat *status) {
    return durable.is_on && status->st_dev == durable.device ? durable_node(status->st_ino) : NULL;
}

void durable_forget(struct node *node) {
    for (size_t i = 0; i < node->page_count; i++)
        for (uint32_t j = 0; j < node->pages[i].count; j++) free(node->pages[i].versions[j]);
    node->page_count = 0;
    node->size_count = 0;
}

struct node *durable_add(uint64_t inode, const char *name, bool is_directory) {
    struct node *node = durable_node(inode);
    if (!node) {
        node = calloc(1, sizeof *node);
        node->next = durable.buckets[inode % BUCKETS];
        durable.buckets[inode % BUCKETS] = node;
    }
    durable_forget(node);
    free(node->name);
    node->inode = inode;
    node->number = ++durable.last_number;
    node->name = strdup(name);
    node->modified = node->changed = durable_time();
    node->is_directory = is_directory;
    return node;
}

void durable_create(struct node *directory, const char *name, const struct stat *status) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory->name, name);
    bool is_directory = S_ISDIR(status->st_mode);
    struct node *node = durable_add(status->st_ino, is_directory ? path : name, is_directory);
    struct entry entry = {directory, (char *)name, 0, node->inode};
    durable_change(CREATES, node, &entry, 1);
}

// ---- Names

void durable_change(enum kind kind, struct node *subject, const struct entry *entries, size_t count) {
    if (durable.change_count == durable.change_room) {
        durable.change_room = durable.change_room ? 2 * durable.change_room : 64;
        durable.changes = realloc(durable.changes, durable.change_room * sizeof *durable.changes);
    }
    struct change *change = &durable.changes[durable.change_count++];
    *change = (struct change){.kind = kind, .subject = subject, .entry_count = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        change->entries[i] = entries[i];
        change->entries[i].name = strdup(entries[i].name);
        entries[i].directory->modified = entries[i].directory->changed = durable_time();
    }
    subject->changed = durable_time();
}

const char *durable_grave_name(uint64_t inode, char name[32]) {
    snprintf(name, 32, "%llu", (unsigned long long)inode);
    return name;
}

void durable_bury(struct node *node, int directory, const char *path) {
    char name[32];
    if (node->has_grave) return;
    if (REAL(linkat)(directory, path, durable.graves, durable_grave_name(node->inode, name), 0)) abort();
    node->has_grave = true;
}

void durable_release(struct node *node) {
    struct stat status;
    char name[32];
    if (!node->has_grave) return;
    for (size_t i = 0; i < durable.change_count; i++)
        for (uint32_t j = 0; j < durable.changes[i].entry_count; j++)
            if (durable.changes[i].entries[j].before == node->inode) return;
    node->has_grave = false;
    REAL(fstatat)(durable.graves, durable_grave_name(node->inode, name), &status, AT_SYMLINK_NOFOLLOW);
    REAL(unlinkat)(durable.graves, name, 0);
    if (status.st_nlink == 1) durable_forget(node);
}

bool durable_is_same_name(const struct entry *left, const struct entry *right) {
    return left->directory == right->directory && !strcmp(left->name, right->name);
}

static bool has_entry(const struct change *change, const struct entry *entry) {
    for (uint32_t i = 0; i < change->entry_count; i++)
        if (durable_is_same_name(&change->entries[i], entry)) return true;
    return false;
}

bool durable_has_directory(const struct change *change, const struct node *directory) {
    for (uint32_t i = 0; i < change->entry_count; i++)
        if (change->entries[i].directory == directory) return true;
    return false;
}

// Chooses what chosen changes need: earlier changes of the same names, and the directories that have the names.
static void choose_requirements(void) {
    for (size_t i = durable.change_count; i-- > 0;) {
        if (!durable.changes[i].is_chosen) continue;
        for (uint32_t j = 0; j < durable.changes[i].entry_count; j++)
            for (size_t k = 0; k < i; k++)
                if (has_entry(&durable.changes[k], &durable.changes[i].entries[j]) ||
                    (durable.changes[k].kind == CREATES &&
                     durable.changes[k].subject == durable.changes[i].entries[j].directory))
                    durable.changes[k].is_chosen = true;
    }
}

// The chosen changes are on the disk now.
void durable_commit(void) {
    size_t kept = 0, done = 0;
    struct change *gone = malloc((durable.change_count + 1) * sizeof *gone);
    for (size_t i = 0; i < durable.change_count; i++)
        if (durable.changes[i].is_chosen)
            gone[done++] = durable.changes[i];
        else
            durable.changes[kept++] = durable.changes[i];
    durable.change_count = kept;
    for (size_t i = 0; i < done; i++)
        for (uint32_t j = 0; j < gone[i].entry_count; j++) {
            struct node *buried = durable_node(gone[i].entries[j].before);
            if (buried) durable_release(buried);
            free(gone[i].entries[j].name);
        }
    free(gone);
}

void durable_remove_directory(const struct node *directory) {
    for (size_t i = 0; i < durable.change_count; i++)
        durable.changes[i].is_chosen =
            durable_has_directory(&durable.changes[i], directory) || durable.changes[i].subject == directory;
    choose_requirements();
    durable_commit();
}

// Whether a sync of the node makes ext4 commit its journal. fdatasync(2) of a file does not, if only its name or its
// times have changed.
static bool needs_commit(const struct node *node, bool only_data, bool is_dirty, bool is_larger) {
    if (only_data ? is_larger : is_dirty) return true;
    for (size_t i = 0; i < durable.change_count; i++)
        if (durable_has_directory(&durable.changes[i], node) ||
            (durable.changes[i].subject == node && (durable.changes[i].kind == CREATES || !only_data)))
            return true;
    return false;
}

static void choose_for_sync(const struct node *node, bool only_data, bool is_dirty, bool is_larger) {
    bool all = !node || (durable.rules == SIM_ORDERED && needs_commit(node, only_data, is_dirty, is_larger));
    for (size_t i = 0; i < durable.change_count; i++)
        durable.changes[i].is_chosen =
            all || (durable.rules == SIM_STRICT &&
                    (durable_has_directory(&durable.changes[i], node) ||
                     (durable.changes[i].kind == CREATES && durable.changes[i].subject == node)));
    choose_requirements();
}

// ---- Content

static struct page *page_at(struct node *node, uint64_t index, bool *is_new) {
    size_t low = 0, high = node->page_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (node->pages[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    *is_new = low == node->page_count || node->pages[low].index != index;
    if (!*is_new) return &node->pages[low];
    if (node->page_count == node->page_room) {
        node->page_room = node->page_room ? 2 * node->page_room : 16;
        node->pages = realloc(node->pages, node->page_room * sizeof *node->pages);
    }
    memmove(&node->pages[low + 1], &node->pages[low], (node->page_count++ - low) * sizeof *node->pages);
    node->pages[low] = (struct page){.index = index};
    return &node->pages[low];
}

// Returns the page's bytes in the file, with zeros after the end; NULL if the page is behind the end.
uint8_t *durable_read_page(int file, uint64_t index, int64_t size) {
    if ((int64_t)index * PAGE >= size) return NULL;
    uint8_t *bytes = calloc(1, PAGE);
    if (REAL(pread)(file, bytes, PAGE, (off_t)index * PAGE) >= 0) return bytes;
    char path[64]; // the descriptor is only for writing
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int other = REAL(open)(path, O_RDONLY | O_CLOEXEC);
    if (other < 0 || REAL(pread)(other, bytes, PAGE, (off_t)index * PAGE) < 0) abort();
    REAL(close)(other);
    return bytes;
}

static void keep_page(struct node *node, int file, uint64_t index, int64_t size) {
    bool is_new;
    struct page *page = page_at(node, index, &is_new);
    page->is_lost = false;
    if (page->count == MAXIMUM_VERSIONS) free(page->versions[--page->count]);
    page->versions[page->count++] = durable_read_page(file, index, size);
}

static void keep_size(struct node *node, int64_t size) {
    if (node->size_count == MAXIMUM_VERSIONS) node->size_count--;
    node->sizes[node->size_count++] = size;
}

int64_t durable_size(int file) {
    struct stat status;
    if (REAL(fstat)(file, &status)) abort();
    return status.st_size;
}

void durable_before_write(struct node *node, int file, int64_t offset, size_t count) {
    if (!count) return;
    int64_t size = durable_size(file), end = offset + (int64_t)count;
    if (end > size) keep_size(node, size);
    for (int64_t index = offset / PAGE; index * PAGE < end; index++) keep_page(node, file, (uint64_t)index, size);
    node->modified = node->changed = durable_time();
}

void durable_before_truncate(struct node *node, int file, int64_t new_size) {
    int64_t size = durable_size(file);
    if (new_size != size) keep_size(node, size);
    for (int64_t index = new_size / PAGE; index * PAGE < size; index++) keep_page(node, file, (uint64_t)index, size);
    node->modified = node->changed = durable_time();
}

// Syncs the pages, except those that a failed sync has lost.
static void sync_content(struct node *node) {
    struct page *pages = node->pages;
    size_t kept = 0;
    for (size_t i = 0; i < node->page_count; i++) {
        if (pages[i].is_lost) {
            pages[kept++] = pages[i];
            continue;
        }
        for (uint32_t j = 0; j < pages[i].count; j++) free(pages[i].versions[j]);
    }
    node->page_count = kept;
    node->size_count = 0;
}

void durable_sync(struct node *node, bool only_data) {
    bool is_dirty = node && (node->page_count || node->size_count), is_larger = node && node->size_count;
    choose_for_sync(node, only_data, is_dirty, is_larger);
    durable_commit();
    if (node) return sync_content(node);
    for (size_t i = 0; i < BUCKETS; i++)
        for (node = durable.buckets[i]; node; node = node->next) sync_content(node);
}

// The kernel takes the pages for clean (fsync(2)), whether or not the disk has them.
void durable_fail_sync(struct node *node) {
    struct page *pages = node->pages;
    size_t kept = 0;
    for (size_t i = 0; i < node->page_count; i++) {
        bool is_lost = pages[i].is_lost || sim_random() % 2;
        for (uint32_t j = is_lost; j < pages[i].count; j++) free(pages[i].versions[j]);
        if (!is_lost) continue;
        pages[i].count = 1;
        pages[i].is_lost = true;
        pages[kept++] = pages[i];
    }
    node->page_count = kept;
}

// ---- The beginning of a process

static int add_found(const char *path, const struct stat *status, int type, struct FTW *place) {
    if (durable_node(status->st_ino)) return 0; // another name of a file
    if (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)) return 0;
    bool is_directory = type == FTW_D;
    durable_add(status->st_ino, is_directory ? path : path + place->base, is_directory);
    return 0;
}

void sim_files_begin(const char *root, enum sim_file_system given) {
    char path[600];
    struct stat status;
    durable.rules = given;
    snprintf(durable.root, sizeof durable.root, "%s", root);
    snprintf(path, sizeof path, "%s.graves", root);
    if (REAL(fstatat)(AT_FDCWD, root, &status, 0) || (REAL(mkdir)(path, 0700) && errno != EEXIST)) abort();
    durable.graves = REAL(open)(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (durable.graves < 0 || nftw(root, add_found, 16, FTW_PHYS)) abort();
    durable.device = status.st_dev;
    durable.is_on = true;
}
