// What the warps of a launch do together, counted from what each of their work-items did: requests
// and sectors of global memory, visits of atomics in the L2 cache, passes of the banks, what the
// first-level cache finds. The emulation of CUDA records it (recorded.cpp), and so does the plugin
// for Oclgrind (tutor/counting/oclgrind.cpp): one way to count for both.
// tutor/counting/count.py has the form of the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace counts {

enum What : std::uint8_t { kLoad, kStore, kAddOne, kAtomic, kMatch, kBlock };
enum Memory : std::uint8_t { kGlobal, kLocal, kOwn, kConstant };

struct Access {
    std::uintptr_t site;  ///< where in the program; what stands behind has a greater one
    std::uint64_t at;  ///< in its allocation, in local memory, in the work-item's own; an address
    std::uint16_t allocation;
    std::uint8_t bytes;
    What what;  ///< kMatch: `__match_any_sync` of the value `at`; kBlock: a basic block begins
    Memory memory;
};

/// What a work-item did since the last barrier.
struct Lane {
    unsigned number = 0;  ///< in its group
    std::vector<Access> accesses;
    std::size_t left_out = 0;  ///< of them, for there were too many
};

/// A multiprocessor of an H100.
struct Device {
    static constexpr unsigned kUnits = 132, kWorkItems = 2048, kGroups = 32;
    static constexpr std::size_t kLocal = 228U << 10, kReserved = 1U << 10;  ///< for each group
    static constexpr std::size_t kLocalAndCache = 256U << 10;
};

inline constexpr unsigned kWarp = 32;

/// Some groups are counted: the first, the last, and sixteen between them, which stand for those
/// that are not. @return for how many this one stands; 0 where it is not counted
double stands_for(std::size_t group, std::size_t groups);

struct Counted {
    double lanes = 0, requests = 0, sectors = 0, tags = 0, found = 0, visits = 0, passes = 0;
    double whole = 0;  ///< visits that add to each of a sector's eight words
    double waits = 0;  ///< loads that the first-level cache does not answer at once
    double again = 0;  ///< loads of just those sectors to which the warp has stored last
    unsigned largest_passes = 0;
};
/// Site, what, memory, bytes, allocation.
using Place = std::tuple<std::uintptr_t, What, Memory, unsigned, unsigned>;

/// A warp's access.
struct Step {
    Access first{};
    unsigned count = 0;
    std::uint64_t at[kWarp];      // NOLINT(modernize-avoid-c-arrays)
    std::uint8_t lane[kWarp];     // NOLINT(modernize-avoid-c-arrays)
    std::uint64_t sector[kWarp];  // NOLINT(modernize-avoid-c-arrays): each once
    std::uint8_t visit[kWarp];    // NOLINT(modernize-avoid-c-arrays): of each, of an atomic
    unsigned sectors = 0, passes = 0, whole = 0;
    Counted* counted = nullptr;
};

/// Which basic blocks followed each other between two barriers.
class Paths {
 public:
    explicit Paths(const std::vector<Lane*>& lanes);
    /// The block that begins with this access; 0 where none does.
    [[nodiscard]] std::size_t block(const Access& access) const;
    /// Whether all that are in `earlier` come to `block`: a lane that is there waits for them.
    [[nodiscard]] bool waits(std::size_t block, std::size_t earlier) const {
        return block != earlier && behind_[earlier][block];
    }

 private:
    std::unordered_map<std::uintptr_t, std::size_t> blocks_;
    std::vector<std::vector<bool>> behind_;  // of each block those that all its paths come to
};

/// A line of the first-level cache is 128 bytes in four sectors, which come one by one; a store
/// takes its sectors out.
class Cache {
 public:
    explicit Cache(std::size_t bytes);
    bool has(std::uint64_t sector);
    void bring(std::uint64_t sector);
    void take_out(std::uint64_t sector);

 private:
    struct Line {
        std::uint64_t number = ~std::uint64_t{0};
        unsigned sectors = 0;
    };
    static constexpr std::size_t kWays = 4;
    Line* find(std::uint64_t line);
    std::vector<Line> lines_;
    std::minstd_rand random_{1};
};

/// Of 80, that of a piece of 256 bytes.
std::size_t queue_of(std::uint64_t piece);

/// What a group visits in the L2 cache: pieces of 256 bytes, of each allocation.
struct Pieces {
    std::size_t group;
    std::map<std::pair<unsigned, std::uint64_t>, double> visits = {};
};

/// A launch, of which some groups are counted.
struct Launch {
    std::size_t groups = 0, group_size = 0, counted_groups = 0, local_bytes = 0;
    double warps = 0, barriers = 0, blocks = 0, blocks_parted = 0;
    double idle = 0;            ///< warps that load nothing
    double blocks_loading = 0;  ///< blocks of all others
    std::map<Place, Counted> places;
    std::map<std::uintptr_t, double> entered;  ///< basic blocks, by warps
    std::vector<Pieces> pieces;                ///< of the groups that are counted
    std::vector<std::size_t> allocations;
    /// Whether lanes of a warp have wanted different places of their own arrays. Where they never
    /// do, a GPU's compiler has all such places in registers.
    bool own_parts = false;
    std::vector<Access> first_lane;  ///< of the first group: what it did from begin to end
    /// In it: the load that is followed, and the first access that needs it.
    std::vector<std::pair<std::size_t, std::size_t>> needed;
    std::mutex one_at_a_time;

    /// What the first lane has asked for when it needs what this load brings.
    struct Ahead {
        std::size_t loads = 0, bytes = 0, others = 0;
    };
    [[nodiscard]] Ahead ahead(std::size_t load, std::size_t need) const;
    [[nodiscard]] std::size_t unrolled(std::size_t load) const;
    /// Groups at once on a multiprocessor, as far as this launch has them, and as far as they fit.
    [[nodiscard]] std::size_t at_once() const;
    [[nodiscard]] std::pair<std::size_t, const char*> resident() const;
    /// Visits of each queue. A group that is not counted visits as the one before it does, so many
    /// pieces further on as the groups are apart: it may have a table of its own.
    [[nodiscard]] std::vector<double> queues() const;
    /// Loads to follow: in the middle of the longest loop over the largest memory.
    [[nodiscard]] std::vector<std::size_t> to_follow() const;
    /// Adds it, an object of JSON in a line, to the file that the environment's COUNTS names; to
    /// standard error where that is "-".
    void write(const std::string& kernel, std::string (*name_of)(std::uintptr_t site)) const;
};

/// A group, from barrier to barrier.
class Group {
 public:
    Group(Launch& launch, std::size_t number)
        : launch_(launch),
          times_(stands_for(number, launch.groups)),
          is_first_(number == 0),
          pieces_{number} {}
    /// All lanes have come to a barrier, or to their end.
    void phase(std::vector<Lane*>& lanes, std::size_t local_bytes);
    void end();

 private:
    void count_warp(const std::vector<Lane*>& lanes, const Paths& paths, double weight,
                    std::vector<Step>& steps);
    static void join_words(std::vector<Step>& steps);
    void count(Step& step, double weight);
    void play_cache(std::vector<std::vector<Step>>& warps, const std::vector<double>& weights);

    Launch& launch_;
    double times_;
    bool is_first_;
    double warps_ = 0, phases_ = 0, blocks_ = 0, parted_ = 0;
    bool own_parts_ = false;
    std::vector<bool> loads_;                             // of each warp: whether it does
    std::vector<double> entries_;                         // of each: blocks
    std::vector<std::unordered_set<std::uint64_t>> had_;  // of each: sectors that it has loaded
    std::map<Place, Counted> places_;
    std::map<std::uintptr_t, double> entered_;
    Pieces pieces_;
    std::vector<Cache> cache_;
    std::minstd_rand random_{1};
};

}  // namespace counts
