#include "common/tutor/exercise/job.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/process/status.hpp"

namespace common::exercise {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Argument, kind, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Step, kernel, groups, group_size, arguments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Case, program, result, sizes, steps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Program, name, text, options)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Job, device, library, calls, programs, cases)

Job read_job() {
    std::string line;
    std::getline(std::cin, line);
    Job job = nlohmann::json::parse(line);
    for (Case& each : job.cases)
        for (const std::size_t size : each.sizes)
            std::cin.read(reinterpret_cast<char*>(each.buffers.emplace_back(size).data()),
                          static_cast<std::streamsize>(size));
    if (!std::cin) throw BadInput("the input ends too early");
    return job;
}

void* find(const std::string& library, const std::string& function) {
    void* const loaded = dlopen(library.c_str(), RTLD_NOW);
    void* const found = loaded == nullptr ? nullptr : dlsym(loaded, function.c_str());
    if (found == nullptr) throw std::runtime_error(dlerror());
    return found;
}

Results::Results() : to_(dup(STDOUT_FILENO)) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

void Results::add(const Bytes& bytes) {
    std::string all = std::to_string(bytes.size()) + "\n";
    all.append(bytes.begin(), bytes.end());
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t wrote = write(to_, all.data() + done, all.size() - done);
        if (wrote < 0) throw BadInput("the results cannot be written");
        done += static_cast<std::size_t>(wrote);
    }
}

}  // namespace common::exercise
