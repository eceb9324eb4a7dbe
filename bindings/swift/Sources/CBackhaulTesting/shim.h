#pragma once

// The module CBackhaul, and the header beside the one that this module uses.
#include "../CBackhaul/shim.h"
#if __has_include("../../../../include/backhaul_testing.h")
#include "../../../../include/backhaul_testing.h"
#elif __has_include("../../../../../include/backhaul_testing.h")
#include "../../../../../include/backhaul_testing.h"
#else
#include <backhaul_testing.h>
#endif
