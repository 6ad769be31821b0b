#pragma once

#include "frostline/core/json.h"

namespace frostline::study {

/// Version of every library by name; null = not built in.
Json library_versions();

}  // namespace frostline::study
