/*
 * Shows the least that a durable download queue does with three threads. Each thread hands its results to the next:
 *
 *   - the network thread receives 32 transfers at the same time with libcurl;
 *   - the disk thread takes all received bodies, writes them to new files, syncs them with one syncfs(2), renames them
 *     to their destinations, and syncs the directory;
 *   - the database thread records the ends of all these files in one durable transaction of SQLite, and removes the
 *     rows in the next transaction, as if the host had acknowledged the ends.
 *
 *   floor DATABASE LIST [CA_FILE [RECORDING]]
 *
 * LIST has one "URL<tab>destination" in each line. All destinations are in one folder. An empty CA_FILE means the
 * authorities of the system.
 *
 * The table has one index, the primary key. There are no conditions, limits, retries, resumes, credentials, headers or
 * history, and the program does not check whether a destination exists. An engine with these features needs
 * more time.
 *
 * With RECORDING, the program shows a limit for Backhaul. RECORDING has the calls of SQLite that Backhaul made for the
 * same transfers (bench/recording.h). The database thread replays them in place of its own statements, as fast as
 * possible. It does not wait for the other threads, so an end may be durable before its file. The program is then not a
 * safe queue.
 */
#define _GNU_SOURCE
#include "replay.h"
#include <curl/curl.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 32, BODIES = 256, PATH_SIZE = 4096 };

struct task {
    char *url, *destination;
};

/* One response body, from its first byte until its file has its name. */
struct body {
    struct body *next;
    char *bytes;
    size_t size, room;
    int task;
};

/* Bodies that one thread hands to another. */
struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct body *first, **end;
    int is_closed;
};

static struct task *tasks;
static int task_count;
static struct queue unused, received, named;
/* The path of the recording, or NULL. */
static const char *recording;

static _Noreturn void fail(const char *what) {
    perror(what);
    exit(1);
}

static void open_queue(struct queue *queue) {
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->changed, NULL);
    queue->end = &queue->first;
}

/* Adds a list of bodies. An empty list closes the queue. */
static void put(struct queue *queue, struct body *bodies) {
    pthread_mutex_lock(&queue->mutex);
    if (!bodies) queue->is_closed = 1;
    *queue->end = bodies;
    while (*queue->end) queue->end = &(*queue->end)->next;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

/* Waits for bodies, and takes at most `limit`. Returns an empty list if the queue is closed and has no more bodies. */
static struct body *take(struct queue *queue, int limit) {
    pthread_mutex_lock(&queue->mutex);
    while (!queue->first && !queue->is_closed) pthread_cond_wait(&queue->changed, &queue->mutex);
    struct body *bodies = queue->first, **rest = &queue->first;
    while (*rest && limit-- > 0) rest = &(*rest)->next;
    queue->first = *rest;
    if (queue->first)
        *rest = NULL;
    else
        queue->end = &queue->first;
    pthread_mutex_unlock(&queue->mutex);
    return bodies;
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    struct body *body = context;
    size_t added = size * count;
    if (body->size + added > body->room) {
        body->room = (body->size + added) * 2;
        body->bytes = realloc(body->bytes, body->room);
        if (!body->bytes) fail("memory");
    }
    memcpy(body->bytes + body->size, bytes, added);
    body->size += added;
    return added;
}

static void start(CURLM *multi, CURL *easy, int task) {
    struct body *body = take(&unused, 1);
    body->next = NULL;
    body->size = 0;
    body->task = task;
    curl_easy_setopt(easy, CURLOPT_URL, tasks[task].url);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, body);
    curl_multi_add_handle(multi, easy);
}

static void receive(const char *ca_file) {
    CURLM *multi = curl_multi_init();
    int running = 1, waiting, started = 0;
    for (; started < AT_ONCE && started < task_count; started++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
        curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
        /* Over HTTP/2, the transfers share a connection, as in the other measured programs. */
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        if (ca_file) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
        start(multi, easy, started);
    }
    while (running) {
        CURLMsg *message;
        curl_multi_perform(multi, &running);
        while ((message = curl_multi_info_read(multi, &waiting))) {
            CURL *easy = message->easy_handle;
            struct body *body;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &body);
            if (message->data.result != CURLE_OK) {
                fprintf(stderr, "floor: %s: %s\n", tasks[body->task].url, curl_easy_strerror(message->data.result));
                exit(1);
            }
            curl_multi_remove_handle(multi, easy);
            put(&received, body);
            if (started < task_count) {
                start(multi, easy, started++);
                running = 1;
            } else {
                curl_easy_cleanup(easy);
            }
        }
        if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    curl_multi_cleanup(multi);
    put(&received, NULL);
}

static void temporary(char *path, const struct body *body) {
    snprintf(path, PATH_SIZE, "%s.part", tasks[body->task].destination);
}

static void write_file(const struct body *body) {
    char path[PATH_SIZE];
    temporary(path, body);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || write(file, body->bytes, body->size) != (ssize_t)body->size || close(file)) fail(path);
}

static void rename_file(const struct body *body) {
    char path[PATH_SIZE];
    temporary(path, body);
    if (rename(path, tasks[body->task].destination)) fail(path);
}

static void *place_files(void *context) {
    char path[PATH_SIZE];
    struct body *bodies;
    snprintf(path, sizeof path, "%s", tasks[0].destination);
    int directory = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* The replay needs no bodies. */
    struct queue *next = recording ? &unused : &named;
    if (directory < 0) fail(path);
    while ((bodies = take(&received, BODIES))) {
        for (struct body *body = bodies; body; body = body->next) write_file(body);
        if (syncfs(directory)) fail("syncfs");
        for (struct body *body = bodies; body; body = body->next) rename_file(body);
        if (fsync(directory)) fail("fsync");
        put(next, bodies);
    }
    close(directory);
    put(next, NULL);
    return context;
}

static sqlite3 *database;

static void run(const char *statement) {
    if (sqlite3_exec(database, statement, NULL, NULL, NULL) == SQLITE_OK) return;
    fprintf(stderr, "floor: %s: %s\n", statement, sqlite3_errmsg(database));
    exit(1);
}

static sqlite3_stmt *prepare(const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) != SQLITE_OK) run(text);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) run("-- step");
    sqlite3_reset(statement);
}

static void enqueue(const char *path) {
    if (sqlite3_open(path, &database) != SQLITE_OK) fail(path);
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE tasks (id INTEGER PRIMARY KEY, url TEXT, destination TEXT, size INTEGER); BEGIN");
    sqlite3_stmt *insert = prepare("INSERT INTO tasks VALUES (?, ?, ?, NULL)");
    for (int i = 0; i < task_count; i++) {
        sqlite3_bind_int(insert, 1, i);
        sqlite3_bind_text(insert, 2, tasks[i].url, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, tasks[i].destination, -1, SQLITE_STATIC);
        step(insert);
    }
    sqlite3_finalize(insert);
    run("COMMIT");
}

static void record_ends(void) {
    sqlite3_stmt *remove = prepare("DELETE FROM tasks WHERE id = ?");
    sqlite3_stmt *end = prepare("UPDATE tasks SET size = ? WHERE id = ?");
    struct body *bodies, *ended = NULL;
    do {
        bodies = take(&named, BODIES);
        run("BEGIN");
        for (struct body *body = ended; body; body = body->next) {
            sqlite3_bind_int(remove, 1, body->task);
            step(remove);
        }
        for (struct body *body = bodies; body; body = body->next) {
            sqlite3_bind_int64(end, 1, (sqlite3_int64)body->size);
            sqlite3_bind_int(end, 2, body->task);
            step(end);
        }
        run("COMMIT");
        if (ended) put(&unused, ended);
        ended = bodies;
    } while (bodies);
    sqlite3_finalize(remove);
    sqlite3_finalize(end);
}

static void *write_rows(void *path) {
    if (recording)
        replay(recording, path);
    else
        record_ends();
    return path;
}

static void read_list(const char *path) {
    FILE *list = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!list) fail(path);
    while (getline(&line, &room, list) > 0) {
        tasks = realloc(tasks, ((size_t)task_count + 1) * sizeof *tasks);
        if (!tasks) fail("memory");
        char *url = strtok(line, "\t\n"), *destination = strtok(NULL, "\t\n");
        tasks[task_count++] = (struct task){strdup(url), strdup(destination)};
    }
    free(line);
    fclose(list);
}

int main(int argc, char **argv) {
    pthread_t disk, rows;
    if (argc < 3) {
        fprintf(stderr, "usage: floor DATABASE LIST [CA_FILE [RECORDING]]\n");
        return 2;
    }
    read_list(argv[2]);
    if (task_count == 0) return 0;
    const char *ca_file = argc > 3 && *argv[3] ? argv[3] : NULL;
    recording = argc > 4 ? argv[4] : NULL;
    /* A recording also has the statements that enqueue the tasks. */
    if (!recording) enqueue(argv[1]);
    open_queue(&unused);
    open_queue(&received);
    open_queue(&named);
    struct body *bodies = calloc(BODIES, sizeof *bodies);
    if (!bodies) fail("memory");
    for (int i = 0; i < BODIES; i++) put(&unused, &bodies[i]);
    if (pthread_create(&disk, NULL, place_files, NULL)) fail("thread");
    if (pthread_create(&rows, NULL, write_rows, argv[1])) fail("thread");
    receive(ca_file);
    pthread_join(disk, NULL);
    pthread_join(rows, NULL);
    sqlite3_close(database);
    return 0;
}
