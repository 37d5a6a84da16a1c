// What a program says at its end: the table, the JSON, the picture and the exit status.
#pragma once

#include "common/inputs/inputs.hpp"
#include "common/verify/verify.hpp"

namespace common {

/// One run of one program as data: what `--json` writes (docs/json.md).
struct RunDocument {
    std::string chapter;
    std::string api;
    std::string device;
    std::string driver;
    std::string input_name;
    std::uint64_t pixels = 0;
    unsigned pixel_bytes = 1;
    std::optional<std::uint64_t> seed;
    std::optional<double> read_ceiling_gb_s;
    /// Median time of the serial CPU loop on the same input, in the same run; 0: not measured.
    double serial_ms = 0;
    std::vector<Result> results;
    Histogram counts{};  ///< those of the serial CPU loop, which a match equals

    /// Median time of the row `serial`; empty where there is none that matches.
    [[nodiscard]] std::optional<double> serial_row_ms() const;
    /// GB/s of pixels; empty where the row was skipped or does not match: a wrong answer has no
    /// speed.
    [[nodiscard]] std::optional<double> gb_s(const Result& result) const;
    [[nodiscard]] std::optional<double> percent_of_ceiling(const Result& result) const;
    [[nodiscard]] std::optional<double> speedup_over_serial(const Result& result) const;
};

std::string to_json_text(const RunDocument& document);

class Report {
 public:
    /// Says on standard error what is about to be counted, and where.
    /// @param device,driver as the table and the JSON name them
    Report(const Program& program, const Options& options, const Input& input,
           const Histogram& expected, std::string device, std::string driver);

    void set_read_ceiling(std::optional<double> gb_s) { document_.read_ceiling_gb_s = gb_s; }

    /// A row of the table. Where the program did not choose its launch, the command line did.
    void add(Result result) {
        if (result.launch_text.empty()) result.launch_text = options_.launch_text();
        document_.results.push_back(std::move(result));
    }

    /// A number more in each row, before the check; "-" where there is none.
    using Value = std::function<std::optional<double>(const Result& row,
                                                      const std::vector<Result>& all_rows)>;
    void add_column(std::string title, Value value) {
        columns_.emplace_back(std::move(title), std::move(value));
    }

    /// Of the row that was added last, a variant that loses counts on purpose: says on standard
    /// error how many, and that this is what it is there to show.
    /// @param last the histogram of its last run
    void say_what_was_lost(const Histogram& last);

    /// What it has so far: of wrong results the explanation comes into it, and the serial loop's
    /// time.
    RunDocument& document() { return document_; }

    /// Prints the table, and writes what --json and --plot ask for.
    /// @return the exit status: every variant that ran matches, one does not, or none could run
    int finish();

 private:
    [[nodiscard]] int status() const;

    const Program& program_;
    const Options& options_;
    const Input& input_;
    const Histogram& expected_;
    RunDocument document_;
    std::vector<std::pair<std::string, Value>> columns_;
};

/// Fixed, readable widths: three significant digits, "-" where there is no number.
std::string number(std::optional<double> value);

struct Column {
    std::string title;
    bool right = false;  ///< numbers stand right, words left
};

/// Lines of text, one per row, under the columns' titles and a rule; columns as wide as they need.
/// @param rows each as long as `columns`
std::string text_table(const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows);

/// The picture beside its histogram: the bytes of a PNG.
std::string histogram_png(const Input& input, const Histogram& histogram);

}  // namespace common
