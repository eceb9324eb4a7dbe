/* Checks of fields: valid values are returned unchanged, and the error about an invalid value names the field. */
#ifndef FIELDS_H
#define FIELDS_H

#include "check.h"

static bh_error error = BH_INIT(bh_error);

#define CHECK_REFUSED(word, call)                                                                                      \
    do {                                                                                                               \
        CHECK_STATUS(BH_INVALID_ARGUMENT, call);                                                                       \
        if (!strstr(error.message, word)) FAIL("\"%s\" is not in: %s", word, error.message);                           \
    } while (0)

#define CHECK_TEXT(expected, got) CHECK((got) != NULL && strcmp(expected, got) == 0)

/* Creates a session with the given configuration. Returns the stored configuration, which is in the batch (a list
 * that the library returns). */
static inline const bh_session_configuration *stored_configuration(bh_application *application,
                                                                   const bh_session_configuration *given,
                                                                   bh_session **session, bh_batch **batch) {
    CHECK_STATUS(BH_OK, bh_session_create(application, given, BH_ROLE_PRODUCE, 20000, session, NULL, &error));
    CHECK_STATUS(BH_OK, bh_session_get_configuration(*session, 20000, batch, &error));
    return bh_batch_configuration_at(*batch, 0);
}

#endif
