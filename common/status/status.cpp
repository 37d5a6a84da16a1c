#include "common/status/status.hpp"

#include <cstdio>
#include <new>

namespace common {

int report_exception(const std::string& program) noexcept {
    const auto say = [&](const char* text) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", program.c_str(), text);
    };
    try {
        throw;
    } catch (const Finished&) {
        return kEveryVariantMatches;
    } catch (const BadInput& error) {
        say(error.what());
        return kBadInput;
    } catch (const NothingToRunOn& error) {
        say(error.what());
        return kNothingToRunOn;
    } catch (const std::bad_alloc&) {
        say("out of memory: this machine has too little for so many pixels");
        return kBadInput;
    } catch (const std::exception& error) {
        say(error.what());
        return kMismatch;
    } catch (...) {
        say("failed for a reason that was not given");
        return kMismatch;
    }
}

}  // namespace common
