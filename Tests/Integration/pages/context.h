/* What the fragments of C in the documents use. The test puts each fragment into a function of its own. */
#include <backhaul.h>
#include <backhaul_testing.h>
#include <stdio.h>
#include <string.h>

#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wunused-variable"
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wunused-but-set-variable"

static void finish(const char *session) { (void)session; }

#define FRAGMENT int fragment(bh_application *application, bh_session *session, const bh_event *event, bh_batch *batch)

#define NAMES                                                                                                          \
    bh_error error = BH_INIT(bh_error);                                                                                \
    bh_application_options options = BH_INIT(bh_application_options);                                                  \
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);                                        \
    bh_request request = BH_INIT(bh_request);
