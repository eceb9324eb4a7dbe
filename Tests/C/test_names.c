/* bh_name returns the names of values as text. */
#include "fields.h"

static void a_value_has_the_name_of_its_constant_in_small_letters_without_the_prefix(void) {
    bh_reason reason = BH_REASON_QUIET_HOURS;
    CHECK_TEXT("running", BH_NAME(bh_task_state, BH_TASK_RUNNING));
    CHECK_TEXT("quiet_hours", BH_NAME(bh_reason, reason));
    CHECK_TEXT("http2-prior-knowledge", BH_NAME(bh_http_version, BH_HTTP_2_PRIOR_KNOWLEDGE));
}

static void a_status_has_its_whole_name(void) {
    CHECK_TEXT("BH_IN_USE", BH_NAME(bh_status, BH_IN_USE));
    CHECK_TEXT("BH_UNKNOWN", BH_NAME(bh_status, 9999));
    CHECK_TEXT("BH_UNKNOWN", bh_name("bh_status", INT64_C(1) << 32));
}

static void a_set_of_bits_has_the_name_of_its_lowest_bit(void) {
    CHECK_TEXT("wifi", BH_NAME(bh_network_kinds, BH_NETWORK_CELLULAR | BH_NETWORK_WIFI));
    CHECK_TEXT("wifi", BH_NAME(bh_network_kinds, BH_NETWORK_WIFI | 1u << 31));
    CHECK_TEXT("none", BH_NAME(bh_network_kinds, 0));
    CHECK_TEXT("ethernet", bh_name("bh_network_kinds", -1));
}

static void a_loop_prints_all_bits_of_a_set(void) {
    char all[64] = "";
    for (bh_schemes left = BH_SCHEME_BASIC | BH_SCHEME_DIGEST; left; left &= left - 1)
        strcat(strcat(all, " "), BH_NAME(bh_schemes, left));
    CHECK_TEXT(" basic digest", all);
}

static void an_unknown_value_or_type_is_unknown(void) {
    CHECK_TEXT("unknown", BH_NAME(bh_task_state, 99));
    CHECK_TEXT("unknown", BH_NAME(bh_network_kinds, 1u << 31));
    CHECK_TEXT("unknown", bh_name("bh_no_such_type", 1));
    CHECK_TEXT("unknown", bh_name(NULL, 1));
}

MAIN(TEST(a_value_has_the_name_of_its_constant_in_small_letters_without_the_prefix), TEST(a_status_has_its_whole_name),
     TEST(a_set_of_bits_has_the_name_of_its_lowest_bit), TEST(a_loop_prints_all_bits_of_a_set),
     TEST(an_unknown_value_or_type_is_unknown))
