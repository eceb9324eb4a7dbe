/* Tests of bh_application_close with an embedded engine: how often it waits for the disk and the kernel, and that it
 * returns even if the disk hangs. */
#include "check.h"

#include <pthread.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static bh_error error = BH_INIT(bh_error);

/* The functions below replace those of the C library in this process. */
static atomic_int syncs;
static atomic_int closed_watches;
static atomic_bool hangs;
static pthread_t main_thread;

/* Counts the waits for the disk. While `hangs` is true, a call never returns, as with a disk that does not reply. The
 * thread of the test itself does not hang. */
static int synchronize(long number, int descriptor) {
    atomic_fetch_add(&syncs, 1);
    while (atomic_load(&hangs) && !pthread_equal(pthread_self(), main_thread)) pause();
    return (int)syscall(number, descriptor);
}

int fsync(int descriptor) { return synchronize(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return synchronize(SYS_fdatasync, descriptor); }

/* The kernel waits for other programs in the close of an inotify descriptor. */
int close(int descriptor) {
    char path[64], target[PATH_MAX] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "inotify") != NULL)
        atomic_fetch_add(&closed_watches, 1);
    return (int)syscall(SYS_close, descriptor);
}

static void closing_an_application_without_sessions_commits_nothing_and_closes_no_watch(void) {
    for (int i = 0; i < 4; i++) {
        bh_application *application = open_application();
        bh_batch *sessions = NULL;
        CHECK_STATUS(BH_OK, bh_application_sessions(application, 20000, &sessions, &error));
        bh_batch_release(sessions);
        CHECK(i > 0 || atomic_load(&syncs) > 0);
        atomic_store(&syncs, 0);
        bh_application_close(application);
        /* SQLite copies the commits of the start from its log to the database: it syncs the log, and then the database.
         */
        if (atomic_load(&syncs) > 2) FAIL("%d syncs", atomic_load(&syncs));
        CHECK(atomic_load(&closed_watches) == 0);
    }
}

static void closing_an_application_with_a_session_commits_one_time_and_closes_no_watch(void) {
    for (int i = 0; i < 4; i++) {
        bh_application *application = open_application();
        bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
        bh_request request = idle_request();
        enqueue_one(session, &request);
        atomic_store(&syncs, 0);
        bh_application_close(application);
        /* The commit stores that the session has no consumer any more. The copy to the database needs two syncs. */
        if (atomic_load(&syncs) > 3) FAIL("%d syncs", atomic_load(&syncs));
        CHECK(atomic_load(&closed_watches) == 0);
    }
}

static void closing_returns_although_the_disk_of_the_store_hangs(void) {
    bh_request request = idle_request();
    atomic_store(&hangs, true);
    bh_ticket *ticket = ticket_of(bh_session_enqueue(session, &request, 1, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_TIMEOUT, bh_ticket_wait(ticket, 50, &error));
}

static void closing_returns_although_the_disk_hangs_during_the_start_of_the_engine(void) {
    bh_application_options options = BH_INIT(bh_application_options);
    bh_application *application = NULL;
    options.identifier = "org.example.tests";
    options.store = store;
    options.hosting = BH_HOSTING_EMBEDDED;
    atomic_store(&hangs, true);
    /* A failed open also closes the application. */
    CHECK_STATUS(BH_TIMEOUT, bh_application_open(&options, 50, &application, &error));
    CHECK_STATUS(BH_OK, bh_application_open(&options, 0, &application, &error));
    bh_application_close(application);
}

static void remember_main_thread(void) __attribute__((constructor));
static void remember_main_thread(void) { main_thread = pthread_self(); }

MAIN(TEST(closing_an_application_without_sessions_commits_nothing_and_closes_no_watch),
     TEST(closing_an_application_with_a_session_commits_one_time_and_closes_no_watch),
     CONSUMER_TEST(closing_returns_although_the_disk_of_the_store_hangs),
     TEST(closing_returns_although_the_disk_hangs_during_the_start_of_the_engine))
