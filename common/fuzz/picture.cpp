// Any bytes as a picture file: they become a picture or a reason in one line.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/image/bytes.hpp"
#include "common/image/formats.hpp"
#include "common/image/image.hpp"
#include "common/process/status.hpp"

namespace {

// Else hardly one changed PNG would come as far as stb_image.
void mend_checksums(std::string& bytes) {
    if (!bytes.starts_with("\x89PNG")) return;
    for (std::size_t at = 8; bytes.size() >= at + 12;) {
        const std::size_t size = common::big_endian(bytes, at, 4);
        if (bytes.size() - at - 12 < size) return;
        const std::uint32_t crc = common::crc_32(std::string_view(bytes).substr(at + 4, 4 + size));
        for (std::size_t i = 0; i < 4; ++i)
            bytes[at + 8 + size + i] = static_cast<char>(crc >> (24 - 8 * i));
        at += 12 + size;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string bytes(data, data + size);
    mend_checksums(bytes);
    try {
        for (const unsigned channels : {1U, 4U}) {
            const common::Picture picture = common::decode_picture(bytes, channels);
            if (picture.pixels.empty() ||
                picture.pixels.size() != picture.width * picture.height * channels)
                std::abort();
        }
    } catch (const common::BadInput& error) {
        if (*error.what() == '\0') std::abort();
    }
    return 0;
}
