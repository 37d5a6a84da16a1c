#include "common/tutor/exercise/job.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <stdexcept>

#include "common/process/status.hpp"

namespace common::exercise {

std::uint64_t read_number() {
    std::uint64_t number = 0;
    std::cin >> number;
    if (!std::cin || std::cin.get() != ' ') throw BadInput("the input is no job");
    return number;
}

Bytes read_bytes() {
    Bytes bytes(read_number());
    if (!std::cin.read(reinterpret_cast<char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size())))
        throw BadInput("the input ends too early");
    return bytes;
}

std::string read_text() {
    const Bytes bytes = read_bytes();
    return {bytes.begin(), bytes.end()};
}

Job read_job() {
    std::ios::sync_with_stdio(false);
    Job job{read_text(), read_text(), read_number() != 0, {}, {}, {}};
    for (std::uint64_t left = read_number(); left > 0; --left)
        job.calls.push_back(read_bytes());
    for (std::uint64_t left = read_number(); left > 0; --left)
        job.programs.push_back({read_text(), read_text()});
    for (std::uint64_t left = read_number(); left > 0; --left) {
        Case& made = job.cases.emplace_back(Case{read_number(), read_number(), {}, {}});
        for (std::uint64_t buffers = read_number(); buffers > 0; --buffers)
            made.buffers.push_back(read_bytes());
        for (std::uint64_t steps = read_number(); steps > 0; --steps) {
            Step& step =
                made.steps.emplace_back(Step{read_text(), read_number(), read_number(), {}});
            for (std::uint64_t arguments = read_number(); arguments > 0; --arguments)
                step.arguments.push_back(
                    {static_cast<Argument::Kind>(read_number()), read_number()});
        }
    }
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

void Results::add(const Bytes& bytes, double time_ms) {
    std::string all = fmt::format("{} {}\n", bytes.size(), time_ms);
    all.append(bytes.begin(), bytes.end());
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t wrote = write(to_, all.data() + done, all.size() - done);
        if (wrote < 0) throw BadInput("the results cannot be written");
        done += static_cast<std::size_t>(wrote);
    }
}

}  // namespace common::exercise
