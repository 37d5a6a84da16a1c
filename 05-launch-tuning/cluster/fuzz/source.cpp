// Any bytes as --raw FILE, or as the files of a FOLDER: each pixel is counted once, or a line says
// why it is not.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "05-launch-tuning/cluster/options.hpp"
#include "05-launch-tuning/cluster/source.hpp"
#include "common/status/status.hpp"

namespace fs = std::filesystem;

namespace {

void must(bool condition) {
    if (!condition) std::abort();
}

std::uint64_t sum_of(const cluster::Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

// The first byte says which and how, and where a file ends: at each 0xFE a name begins with the
// next byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    static const fs::path folder =
        fs::temp_directory_path() / ("histogram-fuzz-" + std::to_string(getpid()));
    fs::remove_all(folder);
    fs::create_directories(folder / "below");
    const std::string bytes(data + 1, data + size);
    common::Options options;
    cluster::ClusterOptions own;
    own.chunk = data[0] / 4;
    own.keep_going = data[0] % 4 == 1;
    const bool raw = data[0] % 4 >= 2;
    if (raw) {
        std::ofstream(folder / "raw", std::ios::binary) << bytes;
        own.raw = folder / "raw";
    } else {
        constexpr const char* kNames[] = {"a.bmp",       "b.PNG", "c.jpeg",
                                          "below/d.pgm", "e.txt", "f.ppm"};
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t end = std::min(bytes.find('\xFE', at), bytes.size());
            const auto name = static_cast<unsigned char>(bytes[at]) % std::size(kNames);
            std::ofstream(folder / kNames[name], std::ios::binary)
                << bytes.substr(at + 1, end > at ? end - at - 1 : 0);
            at = end + 1;
        }
        options.image = folder;
    }
    try {
        const cluster::Source source = cluster::find_source(options, own, 1 + data[0] % 3);
        std::uint64_t each = 0;
        const cluster::Counts counts = source.count_serially(
            own.keep_going,
            [&](std::uint64_t, const cluster::Counts& one) { each += sum_of(one); });
        must(sum_of(counts) == (raw ? bytes.size() : each));
        std::uint64_t pixels = 0;
        for (std::uint64_t item = 0; raw && item < source.items(); ++item)
            pixels += source.pixels_of(item);
        must(!raw || pixels == bytes.size());
    } catch (const common::BadInput& error) {
        must(*error.what() != '\0' && !raw);
    }
    fs::remove_all(folder);
    return 0;
}
