/* Invalid launch commands, responses and progress intervals. A launch command names a program and its arguments. The
 * engine starts this program when a session needs the program, for example because all tasks of the session have
 * ended. A response is the reply of the program to a server's demand for a credential. The error of each call names
 * the invalid value. */
#include "fields.h"

#include <stdint.h>

static char long_text[70000];

static void an_invalid_launch_command_is_refused(void) {
    bh_launch_command good = BH_INIT(bh_launch_command), changed;
    const char *const texts[] = {"--launched", NULL};
    const char *const bare[] = {"NAME"}, *const nameless[] = {"=value"}, *const ours[] = {"BACKHAUL_LAUNCH=1-2"};
    const char *large[] = {long_text};
    memset(long_text, 'x', sizeof long_text - 1);
    good.program = "/usr/bin/true";
    good.arguments = texts;
    good.argument_count = 1;
#define SET(command) bh_application_set_launch(application, command, 20000, &error)
#define CHANGED(field, value) (changed = good, changed.field = (value), &changed)
    CHECK_REFUSED("struct_size", SET(CHANGED(struct_size, 8)));
    CHECK_REFUSED("program is NULL", SET(CHANGED(program, NULL)));
    CHECK_REFUSED("program", SET(CHANGED(program, "true")));
    CHECK_REFUSED("arguments[1] is NULL", SET(CHANGED(argument_count, 2)));
    CHECK_REFUSED("argument_count", SET(CHANGED(argument_count, 1001)));
    CHECK_REFUSED("arguments is NULL", SET(CHANGED(arguments, NULL)));
    CHECK_REFUSED("arguments[0]", SET(CHANGED(arguments, large)));
    CHECK_REFUSED("environment is NULL", SET(CHANGED(environment_count, 1)));
    CHECK_REFUSED("working_directory", SET(CHANGED(working_directory, "home")));
    CHECK_REFUSED("attach_timeout_ms", SET(CHANGED(attach_timeout_ms, UINT32_MAX)));
    changed = good;
    changed.first_delay_ms = 2000;
    changed.longest_delay_ms = 1000;
    CHECK_REFUSED("longest_delay_ms", SET(&changed));
    changed = good;
    changed.environment_count = 1;
    changed.environment = bare;
    CHECK_REFUSED("NAME=value", SET(&changed));
    changed.environment = nameless;
    CHECK_REFUSED("NAME=value", SET(&changed));
    changed.environment = ours;
    CHECK_REFUSED("BACKHAUL_LAUNCH", SET(&changed));
}

static void an_invalid_response_to_a_challenge_is_refused(void) {
    bh_session *session = create_session(application, "s", BH_ROLE_CONSUME);
    bh_challenge_response good = BH_INIT(bh_challenge_response), changed;
    bh_header length = {"Content-Length", "7"}, broken = {"Authorization", "Bearer a\r\nX: y"};
    good.kind = BH_RESPOND_CREDENTIAL;
    good.user = "me";
    good.password = "secret-word";
#define RESPOND(response) bh_session_respond(session, 1, response, 20000, &error)
    CHECK_REFUSED("response is NULL", RESPOND(NULL));
    CHECK_REFUSED("struct_size", RESPOND(CHANGED(struct_size, 8)));
    CHECK_REFUSED("kind is 0", RESPOND(CHANGED(kind, 0)));
    CHECK_REFUSED("kind is 6", RESPOND(CHANGED(kind, 6)));
    CHECK_REFUSED("flags", RESPOND(CHANGED(flags, 2)));
    CHECK_REFUSED("user is NULL", RESPOND(CHANGED(user, NULL)));
    CHECK_REFUSED("colon", RESPOND(CHANGED(user, "me:you")));
    CHECK_REFUSED("password is NULL", RESPOND(CHANGED(password, NULL)));
    CHECK_REFUSED("control character", RESPOND(CHANGED(password, "secret-word\n")));
    if (strstr(error.message, "secret-word")) FAIL("the message tells the password: %s", error.message);
    CHECK_REFUSED("no headers", RESPOND(CHANGED(kind, BH_RESPOND_HEADERS)));
    changed = good;
    changed.kind = BH_RESPOND_HEADERS;
    changed.header_count = 1;
    CHECK_REFUSED("headers is NULL", RESPOND(&changed));
    changed.headers = &length;
    CHECK_REFUSED("Content-Length", RESPOND(&changed));
    changed.headers = &broken;
    CHECK_REFUSED("line break", RESPOND(&changed));
    CHECK_STATUS(BH_NOT_FOUND, RESPOND(&good));
}

static void a_progress_interval_must_be_0_or_from_100_ms_to_one_minute(void) {
    bh_session *session = create_session(application, "s", BH_ROLE_OBSERVE);
    CHECK_REFUSED("interval_ms is 99", bh_session_watch_progress(session, 99, 20000, &error));
    CHECK_REFUSED("interval_ms is 60001", bh_session_watch_progress(session, 60001, 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_watch_progress(session, 100, 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_watch_progress(session, 0, 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_watch_progress(session, 0, 20000, &error));
}

static void a_host_that_was_not_launched_has_no_launch(void) {
    bh_batch *launch = NULL, *launches = NULL, *engine = NULL;
    CHECK_STATUS(BH_OK, bh_application_current_launch(application, 20000, &launch, &error));
    CHECK(bh_batch_count(launch) == 0 && bh_batch_launch_at(launch, 0) == NULL);
    CHECK_STATUS(BH_OK, bh_store_launches(application, 20000, &launches, &error));
    CHECK(bh_batch_count(launches) == 0);
    CHECK_STATUS(BH_OK, bh_store_engine(application, 20000, &engine, &error));
    CHECK(bh_batch_count(engine) == 1);
    const bh_engine_info *info = bh_batch_engine_at(engine, 0);
    CHECK(info->version == bh_version() && info->hosting == BH_HOSTING_EMBEDDED && info->connections == 1);
    CHECK(strcmp(info->store, store) == 0 && info->shares_control_group == 0);
    bh_batch_release(launch);
    bh_batch_release(launches);
    bh_batch_release(engine);
}

static void a_registered_launch_command_is_listed_with_its_defaults_until_it_is_removed(void) {
    bh_launch_command command = BH_INIT(bh_launch_command);
    const char *const arguments[] = {"--launched", ""}, *const environment[] = {"COLOUR=blue", "EMPTY="};
    bh_batch *launches = NULL;
    command.program = "/usr/bin/true";
    command.arguments = arguments;
    command.argument_count = 2;
    command.environment = environment;
    command.environment_count = 2;
    command.working_directory = "/";
    CHECK_STATUS(BH_OK, bh_application_set_launch(application, &command, 20000, &error));
    CHECK_STATUS(BH_OK, bh_store_launches(application, 20000, &launches, &error));
    CHECK(bh_batch_count(launches) == 1);
    const bh_launch_info *info = bh_batch_launch_info_at(launches, 0);
    CHECK(strcmp(info->application, "org.example.tests") == 0 && strcmp(info->program, "/usr/bin/true") == 0);
    CHECK(info->argument_count == 2 && strcmp(info->arguments[0], "--launched") == 0 && !*info->arguments[1]);
    CHECK(info->environment_count == 2 && strcmp(info->environment[1], "EMPTY=") == 0);
    CHECK(strcmp(info->working_directory, "/") == 0);
    CHECK(info->state == BH_LAUNCH_NONE && info->launches == 0 && info->process_id == 0);
    CHECK(info->error_message == NULL && info->next_launch_ms == 0 && info->started_ms == 0);
    bh_batch_release(launches);
    CHECK_STATUS(BH_OK, bh_application_set_launch(application, NULL, 20000, &error));
    CHECK_STATUS(BH_OK, bh_store_launches(application, 20000, &launches, &error));
    CHECK(bh_batch_count(launches) == 0);
    bh_batch_release(launches);
}

MAIN(APPLICATION_TEST(an_invalid_launch_command_is_refused),
     APPLICATION_TEST(an_invalid_response_to_a_challenge_is_refused),
     APPLICATION_TEST(a_progress_interval_must_be_0_or_from_100_ms_to_one_minute),
     APPLICATION_TEST(a_host_that_was_not_launched_has_no_launch),
     APPLICATION_TEST(a_registered_launch_command_is_listed_with_its_defaults_until_it_is_removed))
