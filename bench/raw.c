/*
 * Shows the most that the machine and libcurl can do: 32 transfers at the same time in one loop, and no other work.
 *
 *   raw discard|write|each|all LIST [CA_FILE]      LIST has one "URL<tab>destination" in each line
 *
 * discard: drops the bytes. write: writes the files without a sync. each: calls fdatasync(2) for each file and fsync(2)
 * for its directory before the next transfer. all: calls syncfs(2) one time at the end. Before this call, no file is
 * durable. After this call, all files are durable.
 */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE 32

enum mode { DISCARD, WRITE, EACH, ALL };
static const char *const modes[] = {"discard", "write", "each", "all"};

/* The file of one of the simultaneous transfers. */
struct slot {
    int file;
    char path[4096];
};

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    const struct slot *slot = context;
    return write(slot->file, bytes, size * count) == (ssize_t)(size * count) ? size * count : 0;
}

/* Sets the handle to the list's next URL. Returns 0 at the end of the list, or if the file cannot be opened. */
static int take_next(FILE *list, CURL *easy, struct slot *slot, enum mode mode) {
    static char *line;
    static size_t room;
    if (getline(&line, &room, list) <= 0) return 0;
    curl_easy_setopt(easy, CURLOPT_URL, strtok(line, "\t\n"));
    const char *path = strtok(NULL, "\t\n");
    if (mode == DISCARD) return 1;
    if (!path || strlen(path) >= sizeof slot->path) return 0;
    strcpy(slot->path, path);
    slot->file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return slot->file >= 0;
}

static int sync_directory(const struct slot *slot) {
    char path[4096];
    strcpy(path, slot->path);
    int directory = open(dirname(path), O_RDONLY | O_DIRECTORY);
    int result = directory < 0 ? -1 : fsync(directory);
    if (directory >= 0) close(directory);
    return result;
}

/* Returns 0 if the file is as durable as the mode requires. */
static int finish(struct slot *slot, enum mode mode) {
    if (mode == DISCARD) return 0;
    int failed = mode == EACH && (fdatasync(slot->file) || sync_directory(slot));
    return close(slot->file) || failed;
}

static int sync_all(const struct slot *slot) {
    char path[4096];
    strcpy(path, slot->path);
    int directory = open(dirname(path), O_RDONLY | O_DIRECTORY);
    int result = directory < 0 ? -1 : syncfs(directory);
    if (directory >= 0) close(directory);
    return result;
}

static int mode_named(const char *name) {
    for (int i = 0; i <= ALL; i++)
        if (strcmp(name, modes[i]) == 0) return i;
    return -1;
}

int main(int argc, char **argv) {
    int running = 0, waiting, failed = 0;
    int mode = argc > 2 ? mode_named(argv[1]) : -1;
    FILE *list = mode >= 0 ? fopen(argv[2], "r") : NULL;
    if (!list) {
        fprintf(stderr, "usage: raw discard|write|each|all LIST [CA_FILE]\n");
        return 2;
    }
    static struct slot slots[AT_ONCE];
    CURLM *multi = curl_multi_init();
    for (int i = 0; i < AT_ONCE; i++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, mode == DISCARD ? discard : keep);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &slots[i]);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &slots[i]);
        curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
        /* Over HTTP/2, the transfers share a connection, as in the other measured programs. */
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        if (argc > 3) curl_easy_setopt(easy, CURLOPT_CAINFO, argv[3]);
        if (take_next(list, easy, &slots[i], mode))
            curl_multi_add_handle(multi, easy);
        else
            curl_easy_cleanup(easy);
    }
    do {
        CURLMsg *message;
        curl_multi_perform(multi, &running);
        while ((message = curl_multi_info_read(multi, &waiting))) {
            CURL *easy = message->easy_handle;
            struct slot *slot;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
            if (message->data.result != CURLE_OK) failed++;
            if (finish(slot, mode)) failed++;
            curl_multi_remove_handle(multi, easy);
            if (take_next(list, easy, slot, mode)) {
                curl_multi_add_handle(multi, easy);
                running = 1;
            } else {
                curl_easy_cleanup(easy);
            }
        }
        if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    } while (running);
    curl_multi_cleanup(multi);
    fclose(list);
    if (mode == ALL && sync_all(&slots[0])) failed++;
    return failed ? 1 : 0;
}
