// Exercise 01/otsu: the grey that parts dark from light best. README.md has the task.
#include <array>
#include <cstdint>

// From the histogram of a picture, a threshold from 0 to 255: pixels up to it are dark, the others
// light. The counts may all be 0.
inline std::uint32_t threshold(const std::array<std::uint32_t, 256>& histogram) {
    // ---- your part: the threshold for which the two classes are farthest apart ----
    // TODO: half of the range is right for few pictures
    return histogram.size() / 2;
    // ---- end of your part ----
}
