// All inputs, shared by 1 to as many ranks as there are: started once with 8, because starting
// takes longer than counting. What the ranks count together equals the serial loop over what a
// chapter's program counts.

#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <iomanip>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "05-launch-tuning/cluster/source.hpp"
#include "05-launch-tuning/cluster/work_queue.hpp"
#include "common/files/output_file.hpp"
#include "common/image/image.hpp"

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
    if (right) return;
    std::fprintf(stderr, "%s\n", what.c_str());
    ++failures;
}

struct Case {
    common::Options options;
    cluster::ClusterOptions cluster;
};

Case parse(const std::string& line) {
    const common::Program program{"05-launch-tuning",
                                  "cluster/cpu",
                                  "C++",
                                  "",
                                  {},
                                  {},
                                  cluster::unsupported_options({}),
                                  cluster::kMaxClusterPixels};
    std::vector<std::string> words{"work_queue_test"};
    std::istringstream stream(line);
    for (std::string word; stream >> std::quoted(word);)
        words.push_back(word);
    std::vector<const char*> argv;
    argv.reserve(words.size());
    for (const std::string& word : words)
        argv.push_back(word.c_str());
    Case parsed;
    parsed.options = common::parse_options(static_cast<int>(argv.size()), argv.data(), program,
                                           [&](CLI::App& app) { parsed.cluster.add_to(app); });
    parsed.cluster.refuse_contradictions(parsed.options);
    return parsed;
}

// Counts with everybody in `ranks`, twice: a run leaves nothing behind for the next.
void run(MPI_Comm ranks, const std::string& line, const cluster::Counts& expected) {
    const Case given = parse(line);
    int number = 1;
    MPI_Comm_size(ranks, &number);
    const std::string what = line + " on " + std::to_string(number) + " ranks: ";
    const auto source = cluster::find_source(given.options, given.cluster, number);
    std::vector<common::PixelBuffer> chunks(cluster::WorkQueue::kBuffers);
    cluster::WorkQueue::Buffers buffers{};
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        chunks[i].resize(source->buffer_pixels());
        buffers[i] = chunks[i].data();
    }
    cluster::WorkQueue work(ranks, *source, given.cluster, buffers);
    for (int again = 0; again < (given.cluster.resident ? 1 : 2); ++again) {
        cluster::Counts counts{};
        work.begin();
        cluster::Piece piece = work.next();
        while (!piece.pixels.empty()) {
            // As a device does it: the next is asked for before this one is counted.
            cluster::Piece next = work.next();
            expect(piece.pixels.size() <= source->chunk, what + "a piece is larger than a chunk");
            cluster::add(common::reference_histogram(piece.pixels), counts);
            piece = std::move(next);
        }
        std::uint64_t items = work.tally.items;
        MPI_Allreduce(MPI_IN_PLACE, counts.data(), common::kBins, MPI_UINT64_T, MPI_SUM, ranks);
        MPI_Allreduce(MPI_IN_PLACE, &items, 1, MPI_UINT64_T, MPI_SUM, ranks);
        expect(counts == expected, what + "does not match");
        expect(items == source->items(), what + "an item is missing, or was counted twice");
    }
    if (number == 1)
        expect(source->count_serially(given.cluster.keep_going, [](auto, auto&) {}) == expected,
               what + "count_serially does not match");
    work.end();
}

}  // namespace

int main(int argc, char** argv) try {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::filesystem::path folder = argv[1];

    // The command lines after the folder; each of a stream also in odd chunks, and resident.
    std::map<std::string, cluster::Counts> cases;
    for (int i = 2; i < argc; ++i) {
        const std::string line = argv[i];
        cluster::Counts expected{};
        cluster::add(common::reference_histogram(common::load_input(parse(line).options).pixels),
                     expected);
        cases[line] = cases[line + " --chunk 40009"] = expected;
        if (line.find("--random") != std::string::npos) cases[line + " --resident"] = expected;
    }
    // Files of every size around a chunk, and a folder with a huge picture and many small ones.
    std::minstd_rand random(1);
    cluster::Counts of_folder{};
    const auto write = [&](const std::string& name, std::size_t size, const std::string& head) {
        std::string bytes(size, ' ');
        for (char& byte : bytes)
            byte = static_cast<char>(random() >> 8);
        const std::span<const std::uint8_t> pixels(
            reinterpret_cast<const std::uint8_t*>(bytes.data()), size);
        cluster::Counts counts{};
        cluster::add(common::reference_histogram(pixels), counts);
        if (rank == 0) common::write_whole(folder / name, head + bytes);
        return counts;
    };
    for (const std::size_t size :
         {0U, 1U, 2U, 3U, 15U, 16U, 17U, 255U, 256U, 257U, 4096U, 4097U, 100003U}) {
        const std::string name = std::to_string(size) + ".raw";
        const cluster::Counts counts = write(name, size, "");
        for (const char* const chunk : {"", " --chunk 16", " --chunk 257", " --chunk 100002"}) {
            if (size / 16 < 1000 || std::string(chunk) != " --chunk 16")
                cases["--raw " + (folder / name).string() + chunk] = counts;
        }
    }
    if (rank == 0) std::filesystem::create_directories(folder / "pictures" / "below");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 40; ++i)
        cluster::add(write("pictures/below/" + std::to_string(i) + ".pgm", 6, "P5 3 2 255\n"),
                     of_folder);
    cluster::add(write("pictures/huge.PGM", std::size_t{1003} * 997, "P5 1003 997 255\n"),
                 of_folder);
    if (rank == 0) common::write_whole(folder / "pictures" / "notes.txt", "no picture");
    cases[(folder / "pictures").string()] = of_folder;
    cases[(folder / "pictures").string() + " --chunk 1000"] = of_folder;
    MPI_Barrier(MPI_COMM_WORLD);

    for (int some = 1; some <= ranks; ++some) {
        MPI_Comm those = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank < some ? 0 : MPI_UNDEFINED, rank, &those);
        if (those == MPI_COMM_NULL) continue;
        for (const auto& [line, expected] : cases)
            run(those, line, expected);
        MPI_Comm_free(&those);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%zu cases on 1 to %d ranks, %d failures\n", cases.size(), ranks, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}
