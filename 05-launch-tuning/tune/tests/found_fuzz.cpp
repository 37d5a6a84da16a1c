// Any bytes as what a search left for `tuned`: they become what it found or a reason in one line.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "05-launch-tuning/tune/found.hpp"
#include "common/status/status.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const tuning::Tuning found = tuning::from_json_text(std::string(data, data + size));
        const std::string kept = tuning::to_json_text(found);
        if (tuning::to_json_text(tuning::from_json_text(kept)) != kept) std::abort();
    } catch (const common::BadInput& error) {
        if (*error.what() == '\0') std::abort();
    }
    return 0;
}
