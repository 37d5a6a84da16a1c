// Other people's histograms, a call for each picture.
#pragma once

#include "05-launch-tuning/workshops/libraries.hpp"
#include "05-launch-tuning/workshops/many/pictures.hpp"
#include "common/lesson.hpp"

namespace many {

// `examine` checks and times what a device counts, as the strategies are.
void examine_libraries(common::Lesson& lesson, const Batch& batch, int device, cudaStream_t stream,
                       const std::uint8_t* pixels, std::uint32_t* rows, const auto& examine) {
    std::vector<std::uint64_t> sizes;
    for (std::size_t p = 0; p < batch.size(); ++p)
        sizes.push_back(batch.first[p + 1] - batch.first[p]);
    for (const auto& [variant, version, missing, count] : libraries::all(sizes, device, stream)) {
        if (!lesson.wants(variant, missing)) continue;
        const auto count_all = [&, &count = count] {
            for (std::size_t p = 0; p < batch.size(); ++p)
                count(pixels + batch.first[p], sizes[p], rows + p * common::kBins);
        };
        examine(variant, {}, {}, count_all, version);
    }
}

}  // namespace many
