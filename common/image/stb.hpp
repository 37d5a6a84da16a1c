/// @file
/// What stb_image lacks.
#pragma once

namespace common {

/// Makes stbi_failure_reason() empty. Some failures set none, and it would be null or that of an
/// earlier failure.
void forget_stb_failure();

/// Whether it did since then. The reason that it gives may be another.
bool stb_ran_out_of_memory();

}  // namespace common
