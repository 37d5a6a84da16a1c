// Exercise 01/otsu: the grey that parts dark from light best. README.md has the task.
#include <array>
#include <cstdint>

// From the histogram of a picture, a threshold from 0 to 255: pixels up to it are dark, the others
// light. The counts may all be 0.
inline std::uint32_t threshold(const std::array<std::uint32_t, 256>& histogram) {
    // ---- your part: the threshold for which the two classes are farthest apart ----
    double all = 0, all_values = 0;
    for (std::uint32_t value = 0; value < 256; ++value) {
        all += histogram[value];
        all_values += 1.0 * value * histogram[value];
    }
    double dark = 0, dark_values = 0, farthest = 0;
    std::uint32_t best = 0;
    for (std::uint32_t value = 0; value < 256; ++value) {
        dark += histogram[value];
        dark_values += 1.0 * value * histogram[value];
        const double light = all - dark;
        if (dark == 0 || light == 0) continue;
        const double between = dark_values / dark - (all_values - dark_values) / light;
        const double apart = dark * light * between * between;
        if (apart > farthest) {
            farthest = apart;
            best = value;
        }
    }
    return best;
    // ---- end of your part ----
}
