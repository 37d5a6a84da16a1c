#include "common/report/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/files/files.hpp"
#include "common/process/status.hpp"

namespace common {

// Characters, not bytes, of UTF-8: device names and the multiplication sign are not all ASCII.
static std::size_t shown_width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::size_t width = shown_width(columns[i].title);
        for (const auto& row : rows)
            width = std::max(width, shown_width(shown(row[i])));
        widths.push_back(width);
    }
    std::string text;
    const auto add_line = [&](const auto& cell) {
        std::string line;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::string content = cell(i);
            const std::string padding(widths[i] - shown_width(content), ' ');
            line +=
                (i == 0 ? "" : "  ") + (columns[i].right ? padding + content : content + padding);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    add_line([&](std::size_t i) { return columns[i].title; });
    add_line([&](std::size_t i) { return std::string(widths[i], '-'); });
    for (const auto& row : rows)
        add_line([&](std::size_t i) { return shown(row[i]); });
    return text;
}

std::string number(std::optional<double> value) {
    if (!value) return "-";
    // 99.97 has become 100 before its digits are counted.
    const double magnitude = std::abs(std::stod(fmt::format("{:.2e}", *value)));
    return fmt::format("{:.{}f}", *value,
                       magnitude >= 100   ? 0
                       : magnitude >= 10  ? 1
                       : magnitude >= 1   ? 2
                       : magnitude >= 0.1 ? 3
                       : magnitude > 0    ? 2 - static_cast<int>(std::floor(std::log10(magnitude)))
                                          : 3);
}

Report::Report(const Program& program, const Options& options, const Input& input,
               const Histogram& expected, std::string device, std::string driver)
    : program_(program), options_(options), input_(input), expected_(expected) {
    document_.chapter = program.chapter;
    document_.api = program.api;
    document_.device = std::move(device);
    document_.driver = std::move(driver);
    document_.input_name = input.name;
    document_.pixels = input.pixels.size();
    document_.pixel_bytes = input.pixel_bytes;
    document_.seed = input.seed;
    document_.counts = expected;
}

void Report::say_what_was_lost(const Histogram& last) {
    Result& result = document_.results.back();
    result.broken_on_purpose = true;
    if (result.check == Check::kSkipped) return;
    const auto pixels = static_cast<double>(total(expected_));
    const double lost = pixels - static_cast<double>(total(last));
    std::string said = "lost nothing this time. That is luck: the race is still there.";
    if (last != expected_)
        said = fmt::format(
            "lost {:.0f} of {:.0f} counts ({:.3g} %). This is expected: it is broken on purpose.",
            lost, pixels, 100 * lost / pixels);
    else if (result.check == Check::kMismatch)
        said = "lost counts in one run, and nothing in the last.";
    progress(fmt::format("{} {}\n", result.variant, said));
}

int Report::finish() {
    // The table is printed whether the files can be written or not, and they whether it can be.
    print(fmt::format("\n{}, {} on {} ({})\ninput: {} ({} pixels)\n", document_.chapter,
                      document_.api, shown(document_.device), shown(document_.driver),
                      shown(document_.input_name), document_.pixels));
    if (const std::string launch = options_.launch_text(); !launch.empty())
        print(fmt::format("launch: as asked for with {}\n", shown(launch)));
    if (document_.read_ceiling_gb_s)
        print(fmt::format(
            "read ceiling: {} GB/s, what this device's memory gives to a program that only reads\n",
            number(document_.read_ceiling_gb_s)));
    if (std::any_of(document_.results.begin(), document_.results.end(),
                    [](const Result& r) { return r.timed_by_host && r.launch; })) {
        print("times: by the host's clock, as the device's own cannot be true\n");
    }
    std::vector<Column> columns{{"variant"},
                                {"median ms", true},
                                {"min..max (runs)", true},
                                {"GB/s", true},
                                {"% of ceiling", true},
                                {"x serial", true},
                                {"end to end ms", true}};
    if (is_emulated()) columns = {{"variant"}, {"times and speeds"}};
    if (is_emulated()) columns_.clear();  // whatever they say of times
    for (const auto& [title, value] : columns_)
        columns.push_back({title, true});
    columns.push_back({"check"});
    std::vector<std::vector<std::string>> rows;
    for (const Result& r : document_.results) {
        const bool ran = r.kernel.runs > 0;
        if (is_emulated())
            rows.push_back({r.variant, r.check == Check::kSkipped ? "-" : "emulated on the CPU"});
        else
            rows.push_back({r.variant,
                            number(ran ? std::optional(r.kernel.median_ms) : std::nullopt),
                            ran ? fmt::format("{}..{} ({})", number(r.kernel.min_ms),
                                              number(r.kernel.max_ms), r.kernel.runs)
                                : "-",
                            number(document_.gb_s(r)), number(document_.percent_of_ceiling(r)),
                            number(document_.speedup_over_serial(r)), number(r.end_to_end_ms)});
        for (const auto& [title, value] : columns_)
            rows.back().push_back(number(value(r, document_.results)));
        rows.back().push_back(r.reason.empty()
                                  ? to_string(r.check)
                                  : fmt::format("{}: {}", to_string(r.check), r.reason));
    }
    print('\n' + text_table(columns, rows));

    try {
        if (options_.plot) {
            write_atomically(*options_.plot, histogram_png(input_, expected_));
            const auto highest = std::max_element(expected_.begin(), expected_.end());
            print(fmt::format(
                "\nthe picture beside its histogram: {} (highest bar: {} of value {})\n",
                shown(*options_.plot), *highest, highest - expected_.begin()));
        }
        if (options_.json) write_atomically(*options_.json, to_json_text(document_));
    } catch (const BadInput& lost) {
        if (status() != kMismatch) throw;
        say_why(program_.path(), lost.what());  // the smaller of the two faults
    }
    return status();
}

int Report::status() const {
    const auto has = [&](Check check) {
        return std::any_of(document_.results.begin(), document_.results.end(),
                           [=](const Result& r) { return r.check == check; });
    };
    return has(Check::kMismatch) ? kMismatch
           : has(Check::kMatch)  ? kEveryVariantMatches
                                 : kNothingToRunOn;
}

}  // namespace common
