// Other people's histograms, a call for each picture. The emulation of CUDA has none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "05-launch-tuning/workshops/many/pictures.hpp"
#ifndef ON_CPU_KERNEL
#include "05-launch-tuning/workshops/libraries.cuh"
#endif
#include "common/options/options.hpp"
#include "common/report/report.hpp"
#include "common/verify/verify.hpp"

namespace many {

// The call of a library, by its variant.
struct Library {
    std::string variant, version, missing;
    std::function<void(const std::uint8_t* pixels, std::uint64_t count, std::uint32_t* row)> count;
};

#ifndef ON_CPU_KERNEL

inline std::vector<Library> libraries_for(const Batch& batch, int device, cudaStream_t stream) {
    std::vector<std::uint64_t> sizes;
    for (std::size_t p = 0; p < batch.size(); ++p)
        sizes.push_back(batch.first[p + 1] - batch.first[p]);
    const std::uint64_t most = *std::max_element(sizes.begin(), sizes.end());
    const std::string cub = libraries::cub_version();
    std::vector<Library> all{{"cub", cub, {}, libraries::cub_even(most, stream)},
                             {"cub-range", cub, {}, libraries::cub_range(most, stream)},
                             {"npp", libraries::npp_version(), libraries::npp_missing(sizes), {}}};
    if (all[2].missing.empty()) all[2].count = libraries::npp(sizes, device, stream);
    return all;
}

#else

inline std::vector<Library> libraries_for(const Batch&, int, cudaStream_t) {
    std::vector<Library> all;
    for (const char* variant : {"cub", "cub-range", "npp"})
        all.push_back({variant, {}, "not in the emulation", {}});
    return all;
}

#endif

// `timed_as` checks and times a variant, from what it counts with.
void examine_libraries(const Batch& batch, const common::Options& options, int device,
                       cudaStream_t stream, const std::uint8_t* pixels, std::uint32_t* rows,
                       const auto& timed_as, common::Report& report) {
    for (const auto& [variant, version, missing, count] : libraries_for(batch, device, stream)) {
        if (!options.wants(variant)) continue;
        const auto count_all = [&] {
            for (std::size_t p = 0; p < batch.size(); ++p)
                count(pixels + batch.first[p], batch.first[p + 1] - batch.first[p],
                      rows + p * common::kBins);
        };
        common::Result timed = timed_as(variant, Launch{}, version, count_all, missing);
        timed.launch.reset();  // a library does not say
        report.add(std::move(timed));
    }
    if (options.wants("opencv")) report.add(counted_by_opencv(batch, options));
}

}  // namespace many
