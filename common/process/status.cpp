#include "common/process/status.hpp"

#include <fmt/format.h>

#include <new>
#include <system_error>

#include "common/process/terminal.hpp"

namespace common {

std::string shown(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F)
            line += c;
        else if (c == '\n')
            line += "\\n";
        else if (c == '\t')
            line += "\\t";
        else
            line += fmt::format("\\x{:02x}", byte);
    }
    return line;
}

int report_exception(const std::string& program) noexcept {
    const auto say = [&](const char* why) { say_why(program, why); };
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
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::resource_unavailable_try_again ||
            error.code() == std::errc::not_enough_memory) {
            say("this machine has too little memory, or no more threads");
            return kBadInput;
        }
        say(shown(error.what()).c_str());  // a file's name may be part of it
        return kFailed;
    } catch (const std::exception& error) {
        say(error.what());
        return kFailed;
    } catch (...) {
        say("failed for a reason that was not given");
        return kFailed;
    }
}

}  // namespace common
