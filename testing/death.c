// How a daemon dies: killed at a point, or in a failure of the power, after which the files are as on a disk that has
// only what was synced.

#define _GNU_SOURCE
#include "journal.h"
#include "kit.h"
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>

// ---- Points

void bht_kill_daemon_at(bht_testbed *testbed, bht_point point, uint32_t count) {
    struct control *control = testbed->control;
    bht_demand(point >= BHT_POINT_STEP && point <= BHT_POINT_ACKNOWLEDGED,
               "bht_kill_daemon_at: %d is no point; give one of bht_point", (int)point);
    __atomic_store_n(&control->point, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->died, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->left, count ? count : 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->point, (uint32_t)point, __ATOMIC_SEQ_CST);
}

bool bht_daemon_died(bht_testbed *testbed) { return __atomic_load_n(&testbed->control->died, __ATOMIC_SEQ_CST); }

bh_status bht_wait_for_death(bht_testbed *testbed, int32_t timeout, bh_error *error) {
    bht_begin_wait(testbed);
    bh_status status = BH_OK;
    if (bht_await_report(testbed, &testbed->control->died, 0, timeout))
        bht_kill_process((pid_t)testbed->control->died);
    else
        status = bht_time_out(testbed, error, "no daemon has come to its point");
    bht_end_wait(testbed);
    return status ? status : bht_succeed(error);
}

// ---- The journal

bool bht_make_journal(const bht_testbed *testbed) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" JOURNAL_REMOVED, testbed->directory);
    return !mkdir(path, 0700) && bht_write_file(testbed, JOURNAL_FILE, 0600, "");
}

// A record, and whether the disk has the change.
struct entry {
    struct journal_record record;
    const char *bytes;
    bool is_durable;
};

struct journal {
    char *bytes;
    struct entry *entries;
    size_t count;
    const char *directory;
};

// Returns the place of the next record, or the end.
static char *find_record(char *next, char *end) {
    static const uint64_t mark = JOURNAL_MARK;
    char *found = next < end ? memmem(next, (size_t)(end - next), &mark, sizeof mark) : NULL;
    return found && end - found >= (ptrdiff_t)sizeof(struct journal_record) ? found : end;
}

static bool read_journal(const bht_testbed *testbed, struct journal *journal) {
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%s/" JOURNAL_FILE, testbed->directory);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) || !(journal->bytes = malloc((size_t)status.st_size + 1))) return false;
    ssize_t size = read(file, journal->bytes, (size_t)status.st_size);
    close(file);
    journal->directory = testbed->directory;
    journal->entries = malloc(((size_t)status.st_size / sizeof(struct journal_record) + 1) * sizeof *journal->entries);
    if (size != status.st_size || !journal->entries) return false;
    char *end = journal->bytes + size;
    for (char *next = find_record(journal->bytes, end); next < end;) {
        struct entry *entry = &journal->entries[journal->count];
        memcpy(&entry->record, next, sizeof entry->record);
        entry->bytes = next + sizeof entry->record;
        entry->is_durable = false;
        next = find_record(next + sizeof entry->record.mark, end);
        // An incomplete record is left out: the disk has its change.
        if (next - entry->bytes >= entry->record.size) journal->count++;
    }
    return true;
}

static const char *path_of(const struct entry *entry, int name) {
    return entry->bytes + (name ? strlen(entry->bytes) + 1 : 0);
}

static bool has_name(const struct entry *entry, const char *path) {
    for (int i = 0; i < 2 && entry->record.names[i].directory; i++)
        if (!strcmp(path_of(entry, i), path)) return true;
    return false;
}

// A durable change of a name needs the earlier changes of the name, and the directory that has it.
static void require(const struct journal *journal, size_t last) {
    const struct entry *needs = &journal->entries[last];
    for (size_t i = 0; i < last; i++) {
        struct entry *entry = &journal->entries[i];
        if (entry->record.kind != JOURNAL_CREATED && entry->record.kind != JOURNAL_RENAMED) continue;
        for (int j = 0; j < 2 && needs->record.names[j].directory; j++)
            if (has_name(entry, path_of(needs, j)) ||
                (entry->record.kind == JOURNAL_CREATED && entry->record.file == needs->record.names[j].directory))
                entry->is_durable = true;
    }
}

static bool is_synced(const struct journal_record *record, uint64_t file) {
    if (!file) return true;
    if (record->kind == JOURNAL_WRITTEN) return record->file == file;
    return record->file == file || record->names[0].directory == file || record->names[1].directory == file;
}

static bool is_same_sync(const struct journal_record *earlier, const struct journal_record *later) {
    return earlier->kind == JOURNAL_SYNCED && earlier->file == later->file;
}

// A sync makes all earlier changes of its file durable; of a new file, also its name.
static void find_durable(struct journal *journal) {
    for (size_t i = journal->count; i-- > 0;) {
        struct entry *entry = &journal->entries[i];
        if (entry->record.kind == JOURNAL_SYNCED) {
            for (size_t j = i; j-- > 0 && !is_same_sync(&journal->entries[j].record, &entry->record);)
                if (is_synced(&journal->entries[j].record, entry->record.file)) journal->entries[j].is_durable = true;
        } else if (entry->is_durable && entry->record.kind != JOURNAL_WRITTEN) {
            require(journal, i);
        }
    }
}

// ---- What was not synced is lost

static void path_of_removed(const struct journal *journal, uint64_t inode, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/" JOURNAL_REMOVED "/%llu", journal->directory, (unsigned long long)inode);
}

// Gives the name the file that it had before the change. A file that another process has put there since stays.
static bool lose_name(const struct journal *journal, const char *path, const struct journal_name *name) {
    char removed[PATH_MAX];
    struct stat status;
    uint64_t present = lstat(path, &status) ? 0 : status.st_ino;
    if (present != name->after || name->before == name->after) return true;
    path_of_removed(journal, present, removed);
    // rename(2) does nothing if both names are links to one file.
    if (present && (rename(path, removed) || (unlink(path) && errno != ENOENT))) return false;
    path_of_removed(journal, name->before, removed);
    if (!name->before || !link(removed, path)) return true;
    return errno == EPERM && !rename(removed, path); // a directory
}

static bool lose_names(const struct journal *journal) {
    for (size_t i = journal->count; i-- > 0;) {
        const struct entry *entry = &journal->entries[i];
        if (entry->is_durable || (entry->record.kind != JOURNAL_CREATED && entry->record.kind != JOURNAL_RENAMED))
            continue;
        for (int j = 0; j < 2 && entry->record.names[j].directory; j++)
            if (!lose_name(journal, path_of(entry, j), &entry->record.names[j])) return false;
    }
    return true;
}

// nftw(3) passes no context to its function.
static _Thread_local const struct journal *present;

static int lose_content(const char *path, const struct stat *status, int kind, struct FTW *place) {
    int file = -1, result = 0;
    (void)place;
    for (size_t i = present->count; kind == FTW_F && i-- > 0 && !result;) {
        const struct entry *entry = &present->entries[i];
        const struct journal_record *record = &entry->record;
        if (entry->is_durable || record->kind != JOURNAL_WRITTEN || record->file != status->st_ino) continue;
        if (file < 0) file = open(path, O_WRONLY | O_CLOEXEC);
        result =
            pwrite(file, entry->bytes, record->size, record->offset) != record->size || ftruncate(file, record->length);
    }
    if (file >= 0) close(file);
    return result;
}

static bool lose_unsynced(const bht_testbed *testbed) {
    struct journal journal = {0};
    char path[PATH_MAX];
    bool is_done = read_journal(testbed, &journal);
    if (is_done) find_durable(&journal);
    is_done = is_done && lose_names(&journal);
    snprintf(path, sizeof path, "%s/" JOURNAL_REMOVED, testbed->directory);
    if (is_done) bht_remove(path);
    present = &journal;
    is_done = is_done && !nftw(testbed->directory, lose_content, 16, FTW_PHYS) && bht_make_journal(testbed);
    int code = errno;
    free(journal.entries);
    free(journal.bytes);
    errno = code;
    return is_done;
}

// ---- The failure of the power

// The monotonic clock of the new boot begins at ten seconds, and its id is a random UUID.
static bool boot(bht_testbed *testbed) {
    enum { BOOT_SECONDS = 10 };
    char id[64] = "";
    struct timespec time;
    int file = open("/proc/sys/kernel/random/uuid", O_RDONLY | O_CLOEXEC);
    bool is_read = file >= 0 && read(file, id, sizeof id - 1) > 0;
    if (file >= 0) close(file);
    // Only the boot clock counts the time in which the machine of the test was suspended.
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t now = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec + testbed->control->ahead;
    __atomic_store_n(&testbed->control->boot_behind, now - (int64_t)BOOT_SECONDS * 1000000000, __ATOMIC_SEQ_CST);
    return is_read && bht_write_file(testbed, JOURNAL_BOOT, 0600, id);
}

bh_status bht_fail_power(bht_testbed *testbed, bh_error *error) {
    // From now on, a daemon that starts waits for the boot. A daemon that started before is killed.
    __atomic_store_n(&testbed->control->is_off, 1, __ATOMIC_SEQ_CST);
    bht_kill_daemon(testbed);
    bht_kill_hosts(testbed);
    bht_drop_launches(testbed);
    bool is_done = lose_unsynced(testbed) && boot(testbed);
    int code = errno;
    __atomic_store_n(&testbed->control->is_off, 0, __ATOMIC_SEQ_CST);
    control_bump(&testbed->control->changes);
    syscall(SYS_futex, &testbed->control->is_off, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    if (is_done) return bht_succeed(error);
    return bht_fail(error, BH_DISK_FAILED, "the files cannot be made as they were synced: %s", strerror(code));
}
