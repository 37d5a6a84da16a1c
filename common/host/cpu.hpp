// What the host processor is called and how many threads it runs at once.
#pragma once

#include <cstddef>
#include <string>

namespace common {

/// The processor's name and its number of hardware threads, such as "AMD EPYC, 2 threads".
std::string cpu_name();

/// Hardware threads, at least 1.
std::size_t cpu_threads();

}  // namespace common
