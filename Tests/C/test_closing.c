/* Tests that bh_application_close of an embedded engine returns even if the disk hangs. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static bh_error error = BH_INIT(bh_error);

/* The functions below replace those of the C library in this process. */
static atomic_bool hangs;
static pthread_t main_thread;

/* While `hangs` is true, a call never returns, as with a disk that does not reply. The thread of the test itself does
 * not hang. */
static int synchronize(long number, int descriptor) {
    while (atomic_load(&hangs) && !pthread_equal(pthread_self(), main_thread)) pause();
    return (int)syscall(number, descriptor);
}

int fsync(int descriptor) { return synchronize(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return synchronize(SYS_fdatasync, descriptor); }

static void closing_returns_although_the_disk_of_the_store_hangs(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = idle_request();
    atomic_store(&hangs, true);
    bh_ticket *ticket = ticket_of(bh_session_enqueue(session, &request, 1, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_TIMEOUT, bh_ticket_wait(ticket, 50, &error));
    bh_application_close(application);
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

MAIN(TEST(closing_returns_although_the_disk_of_the_store_hangs),
     TEST(closing_returns_although_the_disk_hangs_during_the_start_of_the_engine))
