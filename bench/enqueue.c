/*
 * Measures how fast requests become durable tasks. The tasks are suspended, so nothing is transferred.
 *
 *   enqueue sync FOLDER COUNT                    COUNT appends of 512 bytes to a file, each with fdatasync
 *   enqueue STORE FOLDER COUNT SIZE THREADS      COUNT requests, SIZE in each call; THREADS threads share one session
 *
 * Prints the seconds from the first call to the return of the last call.
 */
#define _DEFAULT_SOURCE
#include <backhaul.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { APPENDED = 512, PATH_SIZE = 4096, THREADS = 64 };

/* The requests of one thread. */
struct share {
    bh_session *session;
    const char *folder;
    int number, count, size;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(bh_status status, const bh_error *error) {
    if (status == BH_OK) return;
    fprintf(stderr, "enqueue: %s (%s)\n", error->message, bh_status_name(status));
    exit(1);
}

static void *enqueue(void *argument) {
    const struct share *share = argument;
    bh_error error = BH_INIT(bh_error);
    bh_request *requests = calloc((size_t)share->size, sizeof *requests);
    char (*destinations)[PATH_SIZE] = calloc((size_t)share->size, sizeof *destinations);
    if (!requests || !destinations) abort();
    for (int done = 0; done < share->count; done += share->size) {
        int size = share->count - done < share->size ? share->count - done : share->size;
        for (int i = 0; i < size; i++) {
            snprintf(destinations[i], PATH_SIZE, "%s/%d-%d", share->folder, share->number, done + i);
            requests[i] = (bh_request)BH_INIT(bh_request);
            requests[i].url = "http://127.0.0.1:9/a/file/of/some/package_1.2.3-4_amd64.deb";
            requests[i].destination = destinations[i];
            requests[i].flags = BH_REQUEST_STARTS_SUSPENDED;
        }
        check(bh_session_enqueue(share->session, requests, (size_t)size, BH_WAIT_MAXIMUM, NULL, &error), &error);
    }
    free(destinations);
    free(requests);
    return NULL;
}

static double measure_enqueue(const char *store, const char *folder, int count, int size, int threads) {
    static struct share shares[THREADS];
    static pthread_t handles[THREADS];
    bh_error error = BH_INIT(bh_error);
    bh_application *application = NULL;
    bh_session *session = NULL;
    bh_application_options options = BH_INIT(bh_application_options);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    options.identifier = "org.example.enqueue";
    options.store = store;
    configuration.identifier = "enqueue";
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error), &error);
    check(bh_session_create(application, &configuration, BH_ROLE_PRODUCE, BH_WAIT_DEFAULT, &session, NULL, &error),
          &error);
    double start = now();
    for (int i = 0; i < threads; i++) {
        int share = count / threads + (i < count % threads);
        shares[i] = (struct share){session, folder, i, share, size};
        if (pthread_create(&handles[i], NULL, enqueue, &shares[i])) abort();
    }
    for (int i = 0; i < threads; i++) pthread_join(handles[i], NULL);
    double seconds = now() - start;
    bh_session_close(session);
    bh_application_close(application);
    return seconds;
}

static double measure_syncs(const char *folder, int count) {
    static const char bytes[APPENDED];
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/appended", folder);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    double start = now();
    for (int i = 0; i < count; i++)
        if (file < 0 || write(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes || fdatasync(file)) {
            perror(path);
            exit(1);
        }
    double seconds = now() - start;
    close(file);
    return seconds;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "sync") == 0) {
        printf("%.6f\n", measure_syncs(argv[2], atoi(argv[3])));
        return 0;
    }
    int count = argc == 6 ? atoi(argv[3]) : 0, size = argc == 6 ? atoi(argv[4]) : 0;
    int threads = argc == 6 ? atoi(argv[5]) : 0;
    if (count < 1 || size < 1 || threads < 1 || threads > THREADS) {
        fprintf(stderr, "usage: enqueue sync FOLDER COUNT | enqueue STORE FOLDER COUNT SIZE THREADS\n");
        return 2;
    }
    printf("%.6f\n", measure_enqueue(argv[1], argv[2], count, size, threads));
    return 0;
}
