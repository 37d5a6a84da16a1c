#include "05-launch-tuning/cluster/source.hpp"
#include "05-launch-tuning/cluster/work_queue.hpp"

namespace cluster {
namespace {

class GeneratedPixelsReader : public Reader {
 public:
    GeneratedPixelsReader(const GeneratedPixels& source, WorkQueue& work)
        : source_(source), work_(work) {}

    Piece next() override {
        const std::optional<std::uint64_t> item = work_.take();
        if (!item) return {};
        const std::span<std::uint8_t> part = work_.next_buffer(source_.pixels_of(*item));
        source_.read(source_.first_of(*item), part);
        return {*item, part, nullptr};
    }

 private:
    const GeneratedPixels& source_;
    WorkQueue& work_;
};

}  // namespace

GeneratedPixels::GeneratedPixels(const common::Options& common, const ClusterOptions& options,
                                 int ranks)
    : stream_(common) {
    name = stream_.name;
    seed = stream_.seed;
    pixel_count = stream_.size;
    choose_chunk(options, ranks);
}

std::unique_ptr<Reader> GeneratedPixels::open_reader(WorkQueue& work) const {
    return std::make_unique<GeneratedPixelsReader>(*this, work);
}

}  // namespace cluster
