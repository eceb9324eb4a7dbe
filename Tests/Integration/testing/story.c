// The story of test_story.py in C: a host is killed, its transfer finishes without it, the daemon launches it, the
// second transfer needs a credential, the daemon launches the host again, and all is completed.
//
// story          the test
// story host …   the host: the URLs of two pictures, and the folder for them

#include <backhaul_testing.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bh_error error = BH_INIT(bh_error);

// Calls a function whose last parameter is the error.
#define TRY(function, ...)                                                                                             \
    do {                                                                                                               \
        if (function(__VA_ARGS__, &error)) {                                                                           \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #function, error.message);                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// ---- The host

static void download(bh_session *session, const char *url, const char *folder, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    bh_request request = BH_INIT(bh_request);
    request.url = url;
    request.destination = path;
    request.idempotency_key = name;
    TRY(bh_session_enqueue, session, &request, 1, BH_WAIT_DEFAULT, NULL);
}

static void respond(bh_session *session) {
    bh_challenge_response response = BH_INIT(bh_challenge_response);
    response.kind = BH_RESPOND_CREDENTIAL;
    response.user = "me";
    response.password = "secret";
    bh_batch *challenges;
    TRY(bh_session_challenges, session, BH_WAIT_DEFAULT, &challenges);
    for (size_t i = 0; i < bh_batch_count(challenges); i++)
        TRY(bh_session_respond, session, bh_batch_challenge_at(challenges, i)->id, &response, BH_WAIT_DEFAULT);
    bh_batch_release(challenges);
}

// Handles the events of one round. The second picture is the second round.
static void handle_events(bh_session *session, char **words) {
    for (uint64_t finished = 0; !finished;) {
        bh_batch *events;
        TRY(bh_session_poll, session, 0, 1, 60000, &events);
        const bh_event *event = bh_batch_event_at(events, 0);
        if (event && event->kind == BH_EVENT_SESSION_FINISHED) finished = event->round;
        if (event) TRY(bh_session_acknowledge_through, session, event->id, BH_WAIT_DEFAULT, NULL);
        bh_batch_release(events);
        if (finished == 1) download(session, words[1], words[2], "2.jpg");
    }
}

static void run_host(char **words) {
    char program[PATH_MAX] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) exit(1);
    const char *arguments[] = {"host", words[0], words[1], words[2]};
    bh_launch_command launch = BH_INIT(bh_launch_command);
    launch.program = program;
    launch.arguments = arguments;
    launch.argument_count = 4;
    bh_application_options options = BH_INIT(bh_application_options);
    options.identifier = "org.example.photos";
    options.launch = &launch;
    bh_application *application;
    TRY(bh_application_open, &options, BH_WAIT_DEFAULT, &application);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    configuration.identifier = "gallery";
    configuration.asks_for_credentials = BH_YES;
    bh_session *session;
    TRY(bh_session_create, application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL);
    if (!getenv("BACKHAUL_LAUNCH")) download(session, words[0], words[2], "1.jpg");
    respond(session);
    handle_events(session, words);
    TRY(bh_session_complete, session, BH_WAIT_DEFAULT);
    bh_session_close(session);
    bh_application_close(application);
}

// ---- The test

static void test_killed_finished_launched_401_launched_again_completed(void) {
    bht_testbed *testbed;
    bht_resource *first, *private;
    bht_host *host;
    TRY(bht_open, NULL, &testbed);
    TRY(bht_serve, testbed, "/1.jpg", "a picture", 9, &first);
    TRY(bht_serve, testbed, "/2.jpg", "a private picture", 17, &private);
    bht_stall(first, 4);
    bht_require(private, "me", "secret");
    const char *words[] = {NULL, "host", bht_url(first), bht_url(private), bht_directory(testbed)};
    TRY(bht_start, testbed, words, 5, &host);
    TRY(bht_wait_for_bytes, first, 4, 60000);
    bht_kill(host);
    bht_pass(testbed, 1000); // the daemon waits a second for a killed host to come back
    bht_release(first);
    for (int launch = 1; launch <= 2; launch++) {
        TRY(bht_launch, testbed, 60000, &host);
        TRY(bht_wait_for_success, host, 60000);
    }
    TRY(bht_wait_for_requests, private, 2, 0);
    bht_close(testbed);
}

int main(int count, char **words) {
    if (count > 1)
        run_host(words + 2);
    else
        test_killed_finished_launched_401_launched_again_completed();
}
