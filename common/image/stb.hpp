/// @file
/// What stb_image lacks.
#pragma once

namespace common {

/// Makes stbi_failure_reason() empty. Some failures set none, and it would be null or that of an
/// earlier failure.
void forget_stb_failure();

}  // namespace common
