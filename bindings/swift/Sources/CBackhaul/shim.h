#pragma once

// In a checkout of the project, the package uses the header of this checkout. Below PREFIX/share/backhaul, it uses the
// header below PREFIX. Elsewhere, it uses the header that pkg-config finds.
#if __has_include("../../../../include/backhaul.h")
#include "../../../../include/backhaul.h"
#elif __has_include("../../../../../include/backhaul.h")
#include "../../../../../include/backhaul.h"
#else
#include <backhaul.h>
#endif
