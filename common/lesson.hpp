// The frame of a lesson's program: what every chapter does alike. A host program makes one Lesson
// from its command line, goes through the runs of its strategies in loops (verify/runs.hpp), and
// ends with the lesson's table. A strategy's calls of OpenCL or CUDA stand in the host program
// itself. Called elsewhere: the choice of the device, the read ceiling with kernels of its own,
// and the poison (opencl/, cuda/).
#pragma once

#include "common/handle/handle.hpp"
#include "common/process/status.hpp"
#include "common/report/report.hpp"
#include "common/verify/runs.hpp"

namespace common {

class Lesson {
 public:
    /// Reads the command line, loads the pixels, and counts them with chapter 01's loop.
    /// --help and --describe do what they are asked for and throw Finished.
    /// @param add_more adds the options that only this program has, with variables of its own
    /// @param load gives the pixels, where they are not those that load_input gives
    /// @throws BadInput for what cannot be used
    Lesson(int argc, const char* const* argv, const Program& program,
           const std::function<void(CLI::App& app)>& add_more = {},
           const std::function<Input(const Options& options)>& load = {});

    ~Lesson();

    const Options options;                       ///< the command line
    const Input input;                           ///< where the pixels come from
    const std::span<const std::uint8_t> pixels;  ///< one byte each
    const std::size_t width;                     ///< of the picture, in pixels
    const Histogram expected;                    ///< the right answer

    /// What was given of the program's choice of this name, such as "walk"; of one between numbers.
    [[nodiscard]] auto choice(const std::string& name) const { return options.choice(name); }
    [[nodiscard]] auto number(const std::string& name) const { return options.number(name); }

    /// Says which device it is; for the table. The API's choose_device calls it.
    void runs_on(std::string device, std::string driver) {
        device_ = std::move(device);
        driver_ = std::move(driver);
    }

    /// Whether this strategy is to run.
    /// @param unsupported why it cannot, where that is known already: then its row says so
    bool wants(const std::string& variant, const std::string& unsupported = {});

    /// What --group-size asks for, or else the usual size, or the most that the device runs.
    /// @throws Unsupported where the device cannot run so many
    std::size_t group_size(std::size_t usual, std::size_t most) const;

    /// What --groups asks for, or else the usual number.
    [[nodiscard]] std::size_t groups(std::size_t usual) const;

    /// The text of a kernel file beside the host program, read now, or of the file that --kernels
    /// names. From here until a strategy runs, and from then until the next, there are two minutes:
    /// compilers may hang.
    const char* kernel_file(const std::string& name);

    /// Has the read ceiling measured, for the table: how fast this device's memory gives pixels to
    /// a program that only reads. Not with --no-ceiling.
    void read_ceiling(const std::function<std::optional<double>()>& measured_gb_s);

    /// The runs of a strategy on the device, for a loop of the host program (verify/runs.hpp). When
    /// they are over the table has a row more.
    /// @param launch how many groups, of how many; none where that is not the program's to say
    /// @param unsupported why the device cannot run it, where it says so beforehand; else empty
    /// @param launch_text the launch in words, for the results, where the program has chosen it
    Runs runs(const std::string& variant, const Launch& launch, const std::string& unsupported,
              const std::string& launch_text = {});
    /// The same by the host's clock: of what has no device, or is more than its kernels.
    Runs runs(const std::string& variant);

    /// For a variant that loses counts on purpose: says how many the last run lost, and that this
    /// is what it is there to show.
    void say_what_was_lost(const Runs& runs) { report().say_what_was_lost(runs.counts); }

    /// The table, and the files that the command line asks for.
    /// @return the exit status: every variant that ran matches, one does not, or none could run
    int finish();

    /// For what only some chapters add to the table. It begins when first asked for: what cannot be
    /// run at all is then known.
    Report& report();

 private:
    Runs runs_of(Runs::What what);
    void require_no_loop_left() const;

    const Program& program_;
    std::string running_;  ///< the strategy whose runs are not over
    std::string device_;
    std::string driver_;
    std::optional<Report> report_;
    std::string kernels_;
    std::optional<Deadline> compiling_;
};

/// Turns the exception that is being handled into one line on standard error and an exit status:
/// for the `catch (...)` of `main`.
int report_exception(const Program& program);

}  // namespace common
