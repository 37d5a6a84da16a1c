#include "05-launch-tuning/workshops/many/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "05-launch-tuning/workshops/many/uses.hpp"
#include "common/files/output_file.hpp"
#include "common/image/image.hpp"
#include "common/report/document.hpp"
#include "common/report/picture.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/status/status.hpp"
#include "common/terminal/terminal.hpp"
#include "common/timing/timing.hpp"
#include "common/verify/watchdog.hpp"

using common::BadInput;
using common::Histogram;
namespace fs = std::filesystem;

namespace many {
namespace {

// A file, once a thread has been there.
struct Read {
    bool done = false;
    common::PixelBuffer pixels;
    Histogram histogram{};
    common::Picture small;       // for a contact sheet
    std::string damage;          // why there are no pixels
    std::exception_ptr failure;  // what ends the program
};

// The pictures in order, while threads are ahead with those that follow.
class ReadAhead {
 public:
    // @param cell of the contact sheet that the pictures are scaled for; 0 without one
    ReadAhead(const std::vector<fs::path>& paths, std::size_t cell)
        : paths_(paths), cell_(cell), read_(paths.size()) {
        const std::size_t threads =
            std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, paths.size());
        for (std::size_t thread = 0; thread < threads; ++thread)
            threads_.emplace_back([this] { work(); });
    }
    ~ReadAhead() {
        const std::scoped_lock lock(mutex_);
        stopped_ = true;
        changed_.notify_all();
    }

    // Waits for the next one.
    Read next() {
        std::unique_lock lock(mutex_);
        Read& read = read_[taken_];
        changed_.wait(lock, [&] { return read.done; });
        if (read.failure) std::rethrow_exception(read.failure);
        ++taken_;
        pixels_ahead_ -= read.pixels.size();
        changed_.notify_all();
        return std::move(read);
    }

 private:
    // So many pixels are enough to have ahead; but the one that is waited for is read all the same.
    static constexpr std::size_t kAhead = std::size_t{256} << 20;

    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [&] {
                return stopped_ || next_ == paths_.size() || pixels_ahead_ < kAhead ||
                       next_ == taken_;
            });
            if (stopped_ || next_ == paths_.size()) return;
            const std::size_t mine = next_++;
            lock.unlock();
            Read read = read_one(paths_[mine]);
            lock.lock();
            pixels_ahead_ += read.pixels.size();
            read_[mine] = std::move(read);
            changed_.notify_all();
        }
    }

    [[nodiscard]] Read read_one(const fs::path& path) const {
        constexpr std::size_t kBorder = 4;
        Read read;
        try {
            common::Picture picture = common::load_picture(path);
            if (cell_ > 0)
                read.small = common::scaled_to_fit(picture.pixels, picture.width, picture.height,
                                                   cell_ - kBorder);
            read.pixels = std::move(picture.pixels);
            read.histogram = common::reference_histogram(read.pixels);
        } catch (const BadInput& error) {
            read.damage = error.what();
        } catch (...) {
            read.failure = std::current_exception();
        }
        read.done = true;
        return read;
    }

    const std::vector<fs::path>& paths_;
    const std::size_t cell_;
    std::vector<Read> read_;
    std::size_t next_ = 0;   // to be read
    std::size_t taken_ = 0;  // of those that were read
    std::size_t pixels_ahead_ = 0;
    bool stopped_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::jthread> threads_;  // the last member: they end before the others do
};

// What has come of the folder so far.
struct Tally {
    std::vector<Histogram> rows;
    std::vector<std::string> names;
    std::vector<common::Picture> small;
    std::uint64_t pixels = 0;
    std::size_t damaged = 0;
    std::size_t batches = 0;
    double counting_ms = 0;
    double all_ms = 0;
    common::Result result;
    Batch sum;
};

// A batch is large enough to keep a device busy, and small beside a device's memory.
constexpr std::size_t kBatchPixels = std::size_t{64} << 20;
constexpr std::size_t kBatchPictures = 4096;

void count_batch(const Batch& batch, const CountBatch& count, Tally& tally) {
    std::vector<Histogram> rows(batch.size());
    for (Histogram& row : rows)
        row.fill(common::kPoison);
    {
        const common::Deadline deadline("counting", common::time_limit(batch.pixels.size()));
        tally.counting_ms += common::wall_ms([&] { count(batch, rows.front().data()); });
    }
    Histogram sum;
    batch.judge(rows.front().data(), sum);
    if (const common::Comparison comparison = common::compare(batch.sum, sum);
        !comparison.match()) {
        common::progress('\n' + common::failure_report(comparison));
        common::note_mismatch();
        tally.result.check = common::Check::kMismatch;
        tally.result.reason = "a picture does not match the CPU";
    }
    tally.rows.insert(tally.rows.end(), rows.begin(), rows.end());
    tally.names.insert(tally.names.end(), batch.names.begin(), batch.names.end());
    tally.pixels += batch.pixels.size();
    ++tally.batches;
}

void read_and_count(const std::vector<fs::path>& paths, const PictureOptions& pictures,
                    const CountBatch& count, Tally& tally) {
    const std::uint64_t offset = pictures.offset;
    ReadAhead ahead(paths, pictures.sheet ? sheet_cell(paths.size()) : 0);
    common::PixelBuffer pixels;
    Batch batch;
    batch.first = {offset};
    for (std::size_t p = 0; p < paths.size(); ++p) {
        Read read = ahead.next();
        if (!read.damage.empty()) {
            common::progress(fmt::format("skipped: {}\n", common::shown(read.damage)));
            ++tally.damaged;
        } else {
            pixels.insert(pixels.end(), read.pixels.begin(), read.pixels.end());
            batch.add(read.pixels.size(), read.histogram);
            batch.names.push_back(paths[p].string());
            if (pictures.sheet) tally.small.push_back(std::move(read.small));
            tally.sum.add(read.pixels.size(), read.histogram);
        }
        const bool is_full = pixels.size() >= kBatchPixels || batch.size() == kBatchPictures;
        if (batch.size() > 0 && (is_full || p + 1 == paths.size())) {
            batch.pixels = pixels;
            count_batch(batch, count, tally);
            pixels.clear();
            batch = {};
            batch.first = {offset};
        }
    }
}

}  // namespace

int count_folder(const common::Program& program, const common::Options& options,
                 const PictureOptions& pictures, const std::string& device,
                 const std::string& driver, const std::string& variant, const CountBatch& count) {
    if (options.time_limit) common::set_time_limit(std::chrono::seconds(*options.time_limit));
    Tally tally;
    tally.result.variant = variant;
    tally.all_ms = common::wall_ms([&] { read_and_count(pictures.files, pictures, count, tally); });
    if (tally.rows.empty())
        throw BadInput(fmt::format("{}: none of its {} pictures can be read",
                                   options.image->string(), pictures.files.size()));
    const bool timed = !common::is_emulated();
    if (timed) tally.result.end_to_end_ms = tally.all_ms;

    const auto time = [&](double ms) { return timed ? common::number(ms) : common::kEmulated; };
    common::print(fmt::format(
        "\n{}, {} on {} ({})\ninput: {}, {} pictures of {} pixels in all{}\n\n", program.chapter,
        program.api, common::shown(device), common::shown(driver),
        common::shown(options.image->string()), tally.rows.size(), tally.pixels,
        tally.damaged == 0 ? "" : fmt::format("; {} could not be read", tally.damaged)));
    common::print(common::text_table(
        {{"variant"},
         {"batches", true},
         {"read and counted, ms", true},
         {"counted, ms", true},
         {"check"}},
        {{variant, std::to_string(tally.batches), time(tally.all_ms), time(tally.counting_ms),
          tally.result.reason.empty()
              ? to_string(tally.result.check)
              : fmt::format("{}: {}", to_string(tally.result.check), tally.result.reason)}}));
    if (options.counts) common::write_whole(*options.counts, common::counts_text(tally.sum.sum));
    if (options.json) {
        common::RunDocument document;
        document.chapter = program.chapter;
        document.api = program.api;
        document.device = device;
        document.driver = driver;
        document.input_name =
            fmt::format("{}, {} pictures", options.image->string(), tally.rows.size());
        document.pixels = tally.pixels;
        document.results = {tally.result};
        document.counts = tally.sum.sum;
        common::write_whole(*options.json, common::to_json_text(document));
    }
    if (tally.result.check != common::Check::kMatch) return common::kMismatch;
    write_rows(pictures, tally.rows, tally.names);
    if (pictures.sheet) {
        const auto order =
            pictures.by == "distance" ? by_distance(tally.rows) : by_brightness(tally.rows);
        common::write_whole(*pictures.sheet, sheet_png(tally.small, order));
    }
    return common::kEveryVariantMatches;
}

}  // namespace many
