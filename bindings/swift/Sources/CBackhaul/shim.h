#pragma once

// In a checkout of the project, the package uses the header of this checkout. Elsewhere, it uses the installed header.
#if __has_include("../../../../include/backhaul.h")
#include "../../../../include/backhaul.h"
#else
#include <backhaul.h>
#endif
