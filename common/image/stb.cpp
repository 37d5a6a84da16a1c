// The two stb libraries, compiled once, here, with their own warnings and settings (see
// common/CMakeLists.txt for the one that matters).
#include "common/image/stb.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

// A damaged file leaves parts of what stb_image allocates unwritten, and would count as another
// picture each time. So all of it begins as zeros. It comes from operator new like everything else,
// so that the test that makes allocations fail reaches these too.
static thread_local bool out_of_memory = false;
static void* zeros(std::size_t size) {
    void* const memory = ::operator new(size, std::nothrow);
    if (memory != nullptr) return std::memset(memory, 0, size);
    out_of_memory = true;
    return nullptr;
}
static void* grown_with_zeros(void* old, std::size_t old_size, std::size_t size) {
    void* const grown = zeros(size);
    if (grown == nullptr || old == nullptr) return grown;
    std::memcpy(grown, old, std::min(old_size, size));
    ::operator delete(old);
    return grown;
}
#define STBI_MALLOC(size) zeros(size)
#define STBI_REALLOC_SIZED(old, old_size, size) grown_with_zeros(old, old_size, size)
#define STBI_FREE(old) ::operator delete(old)

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_BMP
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_LINEAR
#define STBI_FAILURE_USERMSG
#define STB_IMAGE_WRITE_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
#include <stb_image.h>
#include <stb_image_write.h>

namespace common {

void forget_stb_failure() {
    stbi__g_failure_reason = "";
    out_of_memory = false;
}

bool stb_ran_out_of_memory() {
    return out_of_memory;
}

}  // namespace common
