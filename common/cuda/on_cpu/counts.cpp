#include "common/cuda/on_cpu/counts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

namespace counts {

double stands_for(std::size_t group, std::size_t groups) {
    const char* const text = std::getenv("COUNTS_GROUPS");
    const std::size_t most = text == nullptr ? 18 : std::max(2UL, std::strtoul(text, nullptr, 10));
    if (groups <= most) return 1;
    const auto all = static_cast<double>(groups);
    // The first and the last may be unlike all others.
    if (group == 0 || group == groups - 1) return most == 2 ? all / 2 : 1;
    // Of those between, as far apart as can be, each has another remainder: groups may take turns.
    for (std::size_t n = 1; n + 1 < most; ++n) {
        const std::size_t at = n * (groups - 1) / (most - 1);
        if (group == at - (at - n) % (most - 2)) return (all - 2) / static_cast<double>(most - 2);
    }
    return 0;
}

namespace {

// ---- a warp's access ----

// A word of each lane of a warp.
constexpr std::uint64_t kRow = std::uint64_t{kWarp} * 4;

bool is_atomic(What what) {
    return what == kAddOne || what == kAtomic;
}

// Passes of the banks: each of the 32 serves one word in a pass. Lanes that want one word share it,
// where they read, or where all add a constant 1; else each takes a pass. A pass is 128 bytes at
// most: with wide accesses a half or a quarter of the warp, but a half with 16 bytes, too, where it
// has two addresses at most (measured). A match takes one for each value, constant memory one for
// each address.
unsigned passes_of(const Step& step) {
    const auto addresses = [&step](unsigned begin, unsigned lanes) {
        std::set<std::uint64_t> all;
        for (unsigned i = 0; i < step.count; ++i)
            if (step.lane[i] >= begin && step.lane[i] < begin + lanes) all.insert(step.at[i]);
        return all.size();
    };
    if (step.first.what == kMatch || step.first.memory == kConstant)
        return static_cast<unsigned>(addresses(0, kWarp));
    const unsigned bytes = step.first.bytes;
    const bool shares = step.first.what != kAtomic;
    const bool few =
        bytes == 16 && addresses(0, kWarp / 2) <= 2 && addresses(kWarp / 2, kWarp) <= 2;
    const unsigned at_once = bytes <= 4 ? kWarp : few ? kWarp / 2 : kWarp * 4 / bytes;
    unsigned passes = 0;
    for (unsigned begin = 0; begin < kWarp; begin += at_once) {
        std::array<std::vector<std::uint64_t>, kWarp> banks;
        std::size_t most_words = 0;
        for (unsigned i = 0; i < step.count; ++i) {
            if (step.lane[i] < begin || step.lane[i] >= begin + at_once) continue;
            const std::uint64_t last = (step.at[i] + bytes - 1) / 4;
            for (std::uint64_t word = step.at[i] / 4; word <= last; ++word) {
                auto& bank = banks[word % kWarp];
                if (!shares || std::find(bank.begin(), bank.end(), word) == bank.end())
                    bank.push_back(word);
                most_words = std::max(most_words, bank.size());
            }
        }
        passes += static_cast<unsigned>(most_words);
    }
    return passes;
}

// Its sectors, and the visits of atomics: as often as the commonest address of a sector occurs.
void sectors_of(Step& step) {
    std::map<std::uint64_t, std::map<std::uint64_t, unsigned>> sectors;
    for (unsigned i = 0; i < step.count; ++i) {
        const std::uint64_t last = (step.at[i] + step.first.bytes - 1) / 32;
        for (std::uint64_t sector = step.at[i] / 32; sector <= last; ++sector)
            ++sectors[sector][step.at[i]];
    }
    for (const auto& [sector, addresses] : sectors) {
        if (step.sectors == kWarp) return;  // only where each lane's access crosses sectors
        unsigned commonest = 0;
        for (const auto& [address, times] : addresses)
            commonest = std::max(commonest, times);
        const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
        if (is_atomic(step.first.what) && addresses.size() == 8)
            step.whole += std::min_element(addresses.begin(), addresses.end(), less)->second;
        step.sector[step.sectors] = sector;
        step.visit[step.sectors++] =
            static_cast<std::uint8_t>(is_atomic(step.first.what) ? commonest : 0);
    }
}

// In the first-level cache: of which memory it is, and of own arrays whose.
std::uint64_t in_cache(const Step& step, std::size_t warp, unsigned i) {
    const std::uint64_t whose =
        step.first.memory == kOwn ? 4096 + warp : std::uint64_t{step.first.allocation};
    return step.sector[i] + (whose << 40U);
}

}  // namespace

// ---- the first-level cache ----

Cache::Cache(std::size_t bytes) : lines_(std::max<std::size_t>(bytes / 128 / kWays, 1) * kWays) {}

Cache::Line* Cache::find(std::uint64_t line) {
    const std::uint64_t hash = (line * 0x9E37'79B9'7F4A'7C15U) >> 20U;
    return &lines_[hash % (lines_.size() / kWays) * kWays];
}

bool Cache::has(std::uint64_t sector) {
    const Line* const set = find(sector / 4);
    for (std::size_t way = 0; way < kWays; ++way)
        if (set[way].number == sector / 4) return (set[way].sectors >> sector % 4 & 1U) != 0;
    return false;
}

void Cache::bring(std::uint64_t sector) {
    Line* const set = find(sector / 4);
    Line* line = nullptr;
    for (std::size_t way = 0; way < kWays; ++way) {
        if (set[way].number == sector / 4) line = &set[way];
        if (line == nullptr && set[way].sectors == 0) line = &set[way];
    }
    if (line == nullptr) line = &set[random_() % kWays];
    if (line->number != sector / 4) *line = {sector / 4, 0};
    line->sectors |= 1U << sector % 4;
}

void Cache::take_out(std::uint64_t sector) {
    Line* const set = find(sector / 4);
    for (std::size_t way = 0; way < kWays; ++way)
        if (set[way].number == sector / 4) set[way].sectors &= ~(1U << sector % 4);
}

// ---- a launch ----

std::pair<std::size_t, const char*> Launch::resident() const {
    const std::size_t by_items = Device::kWorkItems / ((group_size + kWarp - 1) / kWarp * kWarp);
    const std::size_t by_local = Device::kLocal / (local_bytes + Device::kReserved);
    const std::size_t most = std::min({by_items, by_local, std::size_t{Device::kGroups}});
    return {most, most == by_items ? "work-items" : most == by_local ? "local memory" : "groups"};
}

std::size_t Launch::at_once() const {
    return std::min(resident().first, (groups + Device::kUnits - 1) / Device::kUnits);
}

// Two queues for each KiB: of the first 256 KiB in turn 32 pairs, which change places, and of all
// others 40. So the fullest pair has as many KiB as it has in docs/results/counting.
std::size_t queue_of(std::uint64_t piece) {
    const std::uint64_t kib = piece / 4, pair = kib < 256 ? kib % 32 : kib % 40;
    return pair * 2 + (piece + kib / 64) % 2;
}

std::vector<double> Launch::queues() const {
    std::map<std::size_t, const Pieces*> by_group;
    for (const Pieces& each : pieces)
        if (!each.visits.empty()) by_group[each.group] = &each;
    std::vector<double> found(80);
    if (by_group.empty()) return found;
    const auto first_of = [](const Pieces& each) {
        return static_cast<std::int64_t>(each.visits.begin()->first.second);
    };
    const auto& [first, of_first] = *by_group.begin();
    const auto& [last, of_last] = *by_group.rbegin();
    const auto apart = static_cast<std::int64_t>(std::max<std::size_t>(last - first, 1));
    const std::int64_t step = (first_of(*of_last) - first_of(*of_first)) / apart;
    if (step == 0) {  // they share their tables, or take turns with them
        for (const Pieces& each : pieces)
            for (const auto& [piece, visits] : each.visits)
                found[queue_of(piece.second)] += visits * stands_for(each.group, groups);
        return found;
    }
    for (std::size_t group = 0; group < groups; ++group) {
        auto near = by_group.upper_bound(group);
        if (near != by_group.begin()) --near;
        const auto by = static_cast<std::int64_t>(group) - static_cast<std::int64_t>(near->first);
        for (const auto& [piece, visits] : near->second->visits) {
            const auto at =
                static_cast<std::uint64_t>(static_cast<std::int64_t>(piece.second) + step * by);
            found[queue_of(at)] += visits;
        }
    }
    return found;
}

std::vector<std::size_t> Launch::to_follow() const {
    std::map<std::uintptr_t, std::size_t> times;
    unsigned pixels = 0;
    for (const Access& each : first_lane)
        if (each.what == kLoad && each.memory == kGlobal &&
            allocations[each.allocation] > allocations[pixels])
            pixels = each.allocation;
    std::vector<std::size_t> loads;
    std::size_t most = 0;
    for (std::size_t i = 0; i < first_lane.size(); ++i) {
        const Access& each = first_lane[i];
        if (each.what != kLoad || each.memory != kGlobal || each.allocation != pixels) continue;
        loads.push_back(i);
        most = std::max(most, ++times[each.site]);
    }
    std::vector<std::size_t> chosen;
    std::vector<std::uintptr_t> sites;
    for (std::size_t n = loads.size() / 2; n < loads.size() && chosen.size() < 8; ++n) {
        const std::uintptr_t site = first_lane[loads[n]].site;
        if (times[site] * 2 < most || std::count(sites.begin(), sites.end(), site) > 0) continue;
        sites.push_back(site);
        chosen.push_back(loads[n]);
    }
    return chosen;
}

// A loop of one block that only copies is unrolled by four, and its loads come first; the stores
// wait for them. CUDA's compiler moves no load to before an atomic or a counter's store.
std::size_t Launch::unrolled(std::size_t load) const {
    const auto is_block = [this](std::size_t i) { return first_lane[i].what == kBlock; };
    const auto begin_of = [&](std::size_t i) {
        while (i > 0 && !is_block(i))
            --i;
        return i;
    };
    const std::size_t begin = begin_of(load);
    const auto is_turn = [&](std::size_t from) {
        bool copies = is_block(from) && first_lane[from].site == first_lane[begin].site;
        bool stores = false;
        for (std::size_t i = from + 1; copies && i < first_lane.size() && !is_block(i); ++i) {
            const bool is_store = first_lane[i].what == kStore;
            copies = first_lane[i].memory == kGlobal ? first_lane[i].what == kLoad : is_store;
            stores |= is_store;
        }
        return copies && stores;
    };
    if (!is_turn(begin)) return 1;
    std::size_t turns = 1;
    for (std::size_t at = begin; at > 0 && is_turn(at = begin_of(at - 1)); ++turns) {
    }
    for (std::size_t at = load; ++at < first_lane.size();) {
        if (!is_block(at)) continue;
        if (!is_turn(at)) break;
        ++turns;
    }
    return turns < 4 ? 1 : 4;
}

Launch::Ahead Launch::ahead(std::size_t load, std::size_t need) const {
    const auto is_load = [this](std::size_t i) {
        return first_lane[i].what == kLoad && first_lane[i].memory == kGlobal;
    };
    Ahead found;
    for (std::size_t i = load; i < need; ++i) {
        found.others += first_lane[i].what < kMatch && first_lane[i].memory != kGlobal ? 1 : 0;
        if (!is_load(i)) continue;
        ++found.loads;
        found.bytes += first_lane[i].bytes;
    }
    // What a basic block loads, a GPU's compiler asks for at its begin, unless global memory
    // changes in it, or the address is what the load brings; local memory is another.
    const auto goes_on = [this](std::size_t i) {
        return first_lane[i].what == kLoad || first_lane[i].memory == kLocal;
    };
    std::size_t begin = load, of_block = 0;
    while (begin > 0 && first_lane[begin - 1].what != kBlock && goes_on(begin - 1))
        --begin;
    const bool is_address = need > load && need < first_lane.size() && is_load(need);
    const std::size_t end = is_address ? need : first_lane.size();
    for (; begin < end && first_lane[begin].what != kBlock && goes_on(begin); ++begin)
        of_block += is_load(begin) ? 1 : 0;
    const std::size_t turns = unrolled(load);
    of_block = std::max(of_block, turns);
    return turns > 1 || of_block > found.loads
               ? Ahead{of_block, of_block * first_lane[load].bytes, 0}
               : found;
}

void Launch::write(const std::string& kernel, std::string (*name_of)(std::uintptr_t site)) const {
    const std::string name = std::getenv("COUNTS");
    std::FILE* const file = name == "-" ? stderr : std::fopen(name.c_str(), "a");
    if (file == nullptr) return;
    Ahead most;
    for (const std::size_t load : to_follow()) {
        const auto found = std::find_if(needed.begin(), needed.end(),
                                        [load](const auto& each) { return each.first == load; });
        const Ahead of = ahead(load, found == needed.end() ? load : found->second);
        most = {std::max(most.loads, of.loads), std::max(most.bytes, of.bytes),
                std::max(most.others, of.others)};
    }
    std::fprintf(file,
                 "{\"kernel\": \"%s\", \"groups\": %zu, \"group_size\": %zu, \"local_bytes\": %zu, "
                 "\"resident_groups\": %zu, \"resident_limit\": \"%s\", \"counted_groups\": %zu, "
                 "\"warps\": %.17g, \"idle\": %.17g, \"barriers\": %.17g, \"blocks\": %.17g, "
                 "\"blocks_loading\": %.17g, \"blocks_parted\": %.17g, \"loads_ahead\": %zu, "
                 "\"bytes_ahead\": %zu, \"others_ahead\": %zu, "
                 "\"allocations\": [",
                 kernel.c_str(), groups, group_size, local_bytes, resident().first,
                 resident().second, counted_groups, warps, idle,
                 barriers / static_cast<double>(groups), blocks, blocks_loading, blocks_parted,
                 most.loads, most.bytes, most.others);
    for (std::size_t i = 0; i < allocations.size(); ++i)
        std::fprintf(file, "%s%zu", i > 0 ? ", " : "", allocations[i]);
    std::fprintf(file, "], \"queues\": [");
    const char* comma = "";
    for (const double visits : queues()) {
        std::fprintf(file, "%s%.17g", comma, visits);
        comma = ", ";
    }
    std::fprintf(file, "], \"entered\": {");
    comma = "";
    for (const auto& [site, times] : entered) {
        std::fprintf(file, "%s\"%s\": %.17g", comma, name_of(site).c_str(), times);
        comma = ", ";
    }
    std::fprintf(file, "}, \"lines\": [");
    static constexpr std::array kWhats{"load", "store", "add one", "atomic", "match"};
    static constexpr std::array kMemories{"global", "local", "own", "constant"};
    comma = "";
    for (const auto& [place, counted] : places) {
        const auto& [site, what, memory, bytes, allocation] = place;
        if (memory == kOwn && !own_parts) continue;
        std::fprintf(file,
                     "%s{\"site\": \"%s\", \"what\": \"%s\", \"memory\": \"%s\", \"bytes\": %u, "
                     "\"allocation\": %d, \"lanes\": %.17g, \"requests\": %.17g, \"sectors\": "
                     "%.17g, \"tags\": %.17g, \"found\": %.17g, \"visits\": %.17g, \"whole\": "
                     "%.17g, \"waits\": %.17g, \"again\": %.17g, \"passes\": %.17g, "
                     "\"largest_passes\": %u}",
                     comma, name_of(site).c_str(), kWhats[what], kMemories[memory], bytes,
                     memory == kGlobal ? static_cast<int>(allocation) : -1, counted.lanes,
                     counted.requests, counted.sectors, counted.tags, counted.found, counted.visits,
                     counted.whole, counted.waits, counted.again, counted.passes,
                     counted.largest_passes);
        comma = ",";
    }
    std::fprintf(file, "]}\n");
    if (file != stderr) std::fclose(file);
}

// ---- a group ----

// All paths from a block come to another: it is the same for each block that may follow (the
// textbook's post-dominators, of the paths that were taken).
Paths::Paths(const std::vector<Lane*>& lanes) {
    std::vector<std::set<std::size_t>> next(1);  // 0: where the barrier before was
    constexpr std::size_t kEnd = ~std::size_t{0};
    for (const Lane* const lane : lanes) {
        std::size_t from = 0;
        for (const Access& access : lane->accesses) {
            if (access.what != kBlock) continue;
            const auto [found, is_new] = blocks_.try_emplace(access.site, next.size());
            if (is_new) next.emplace_back();
            next[from].insert(found->second);
            from = found->second;
        }
        next[from].insert(kEnd);
    }
    behind_.assign(next.size(), std::vector<bool>(next.size(), true));
    for (bool changes = true; changes;) {
        changes = false;
        for (std::size_t block = next.size(); block-- > 0;) {
            std::vector<bool> behind(next.size(), true);
            for (const std::size_t each : next[block])
                for (std::size_t i = 0; i < behind.size(); ++i)
                    behind[i] = behind[i] && each != kEnd && behind_[each][i];
            behind[block] = true;
            changes |= behind != behind_[block];
            behind_[block] = std::move(behind);
        }
    }
}

std::size_t Paths::block(const Access& access) const {
    return access.what == kBlock ? blocks_.at(access.site) : 0;
}

// The sequences of a warp's lanes, made one of the warp's, as a GPU does it: lanes that part at a
// branch go on one side after the other, and wait for each other in the first block to which all
// paths come.
void Group::count_warp(const std::vector<Lane*>& lanes, const Paths& paths, double weight,
                       std::vector<Step>& steps) {
    std::vector<std::size_t> next(lanes.size());
    std::vector<std::size_t> in(lanes.size());  // the block that is next
    std::vector<std::size_t> left(lanes.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    for (;;) {
        left.erase(
            std::remove_if(left.begin(), left.end(),
                           [&](std::size_t n) { return next[n] == lanes[n]->accesses.size(); }),
            left.end());
        if (left.empty()) return;
        const auto waits = [&](std::size_t n) {
            return std::any_of(left.begin(), left.end(),
                               [&](std::size_t other) { return paths.waits(in[n], in[other]); });
        };
        const std::size_t block = in[*std::find_if_not(left.begin(), left.end(), waits)];
        std::vector<std::size_t> together;
        for (const std::size_t n : left) {
            if (in[n] != block) continue;
            together.push_back(n);
            if (lanes[n]->accesses[next[n]].what == kBlock) ++next[n];
        }
        const std::size_t one = together.front();
        if (next[one] > 0 && lanes[one]->accesses[next[one] - 1].what == kBlock)
            entered_[lanes[one]->accesses[next[one] - 1].site] += weight;
        blocks_ += times_;
        parted_ += together.size() < lanes.size() ? times_ : 0;
        // A block is the same for all, but for what a function that it calls does.
        for (;;) {
            std::uintptr_t site = ~std::uintptr_t{0};  // which is that of no place
            for (const std::size_t n : together) {
                if (next[n] == lanes[n]->accesses.size()) continue;
                const Access& access = lanes[n]->accesses[next[n]];
                if (access.what != kBlock) site = std::min(site, access.site);
            }
            if (site == ~std::uintptr_t{0}) break;
            Step& step = steps.emplace_back();
            for (const std::size_t n : together) {
                const auto& accesses = lanes[n]->accesses;
                if (next[n] == accesses.size() || accesses[next[n]].site != site) continue;
                const Access& access = accesses[next[n]++];
                if (step.count == 0) step.first = access;
                const unsigned lane = lanes[n]->number % kWarp;
                step.lane[step.count] = static_cast<std::uint8_t>(lane);
                // A GPU keeps the words of own arrays of a warp's lanes side by side.
                step.at[step.count++] = access.memory == kOwn
                                            ? access.at / 4 * kRow + lane * 4U + access.at % 4
                                            : access.at;
            }
        }
        for (const std::size_t n : together)
            if (next[n] < lanes[n]->accesses.size())
                in[n] = paths.block(lanes[n]->accesses[next[n]]);
    }
}

// Four words of local memory that all lanes read one after the other are one load of 16 bytes: a
// GPU's compiler makes one of them.
void Group::join_words(std::vector<Step>& steps) {
    const auto follows = [](const Step& one, const Step& other, unsigned by) {
        return other.first.what == kLoad && other.first.memory == kLocal &&
               other.first.bytes == 4 && other.count == one.count &&
               std::equal(one.at, one.at + one.count, other.at,
                          [by](std::uint64_t at, std::uint64_t to) { return at + by == to; });
    };
    std::size_t kept = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Step& step = steps[kept++] = steps[i];
        const auto begins = [](std::uint64_t at) { return at % 16 == 0; };
        if (i + 3 >= steps.size() || !follows(step, step, 0) ||
            !std::all_of(step.at, step.at + step.count, begins) ||
            !follows(step, steps[i + 1], 4) || !follows(step, steps[i + 2], 8) ||
            !follows(step, steps[i + 3], 12))
            continue;
        step.first.bytes = 16;
        i += 3;
    }
    steps.resize(kept);
}

void Group::count(Step& step, double weight) {
    const Access& first = step.first;
    if (first.memory == kLocal || first.memory == kConstant)
        step.passes = passes_of(step);
    else
        sectors_of(step);
    if (first.memory == kOwn)
        for (unsigned i = 1; i < step.count; ++i)
            own_parts_ |= step.at[i] / kRow != step.at[0] / kRow;
    Counted& counted = places_[{first.site, first.what, first.memory, first.bytes,
                                first.memory == kGlobal ? first.allocation : 0U}];
    step.counted = &counted;
    counted.lanes += weight * step.count;
    counted.requests += weight;
    counted.sectors += weight * step.sectors;
    for (unsigned i = 0; i < step.sectors; ++i)
        counted.tags += i == 0 || step.sector[i] / 4 != step.sector[i - 1] / 4 ? weight : 0;
    counted.passes += weight * step.passes;
    counted.whole += weight * step.whole;
    counted.largest_passes = std::max(counted.largest_passes, step.passes);
    for (unsigned i = 0; i < step.sectors; ++i) {
        if (step.visit[i] == 0) continue;
        counted.visits += weight * step.visit[i];
        pieces_.visits[{first.allocation, step.sector[i] / 8}] += weight / times_ * step.visit[i];
    }
}

// The warps take turns by chance: an access, and in another turn its answer, which brings what was
// not there. A warp waits for that, and for a sector that it has not had before, though another has
// brought it: warps that wait for nothing overtake the others, until they are the first to ask.
void Group::play_cache(std::vector<std::vector<Step>>& warps, const std::vector<double>& weights) {
    std::vector<std::size_t> turn(warps.size()), left;
    std::vector<std::vector<std::uint64_t>> missing(warps.size());
    for (std::size_t warp = 0; warp < warps.size(); ++warp)
        if (!warps[warp].empty()) left.push_back(warp);
    Cache& cache = cache_.front();
    had_.resize(std::max(had_.size(), warps.size()));
    while (!left.empty()) {
        const std::size_t which = random_() % left.size(), warp = left[which];
        if (!missing[warp].empty()) {
            for (const std::uint64_t sector : missing[warp])
                cache.bring(sector);
            missing[warp].clear();
            continue;
        }
        if (turn[warp] == warps[warp].size()) {
            left[which] = left.back();
            left.pop_back();
            continue;
        }
        const Step& step = warps[warp][turn[warp]++];
        if (step.first.memory == kOwn && !own_parts_) continue;
        bool waits = false;
        for (unsigned i = 0; i < step.sectors; ++i) {
            const std::uint64_t sector = in_cache(step, warp, i);
            if (step.first.what != kLoad) {
                cache.take_out(sector);
                continue;
            }
            waits |= had_[warp].insert(sector).second || !cache.has(sector);
            if (cache.has(sector))
                step.counted->found += weights[warp];
            else
                missing[warp].push_back(sector);
        }
        step.counted->waits += waits ? weights[warp] : 0;
    }
}

void Group::phase(std::vector<Lane*>& lanes, std::size_t local_bytes) {
    std::sort(lanes.begin(), lanes.end(),
              [](const Lane* a, const Lane* b) { return a->number < b->number; });
    const Paths paths(lanes);
    std::vector<std::vector<Step>> warps;
    std::vector<double> weights;
    for (std::size_t begin = 0; begin < lanes.size();) {
        std::vector<Lane*> warp;
        const unsigned which = lanes[begin]->number / kWarp;
        std::size_t all = 0, recorded = 0;
        for (; begin < lanes.size() && lanes[begin]->number / kWarp == which; ++begin) {
            warp.push_back(lanes[begin]);
            recorded += lanes[begin]->accesses.size();
            all += lanes[begin]->accesses.size() + lanes[begin]->left_out;
        }
        const double left = static_cast<double>(all) / static_cast<double>(recorded);
        weights.push_back(recorded > 0 ? left * times_ : times_);
        const double before = blocks_;
        count_warp(warp, paths, weights.back(), warps.emplace_back());
        join_words(warps.back());
        loads_.resize(std::max(loads_.size(), warps.size()));
        entries_.resize(loads_.size());
        entries_[warps.size() - 1] += blocks_ - before;
        const Step* stored = nullptr;
        for (Step& step : warps.back()) {
            count(step, weights.back());
            if (step.first.memory != kGlobal) continue;
            if (step.first.what == kStore) stored = &step;
            if (step.first.what != kLoad) continue;
            loads_[warps.size() - 1] = true;
            if (stored != nullptr && stored->sectors == step.sectors &&
                stored->first.allocation == step.first.allocation &&
                std::equal(step.sector, step.sector + step.sectors, stored->sector))
                step.counted->again += weights.back();
        }
    }
    {
        const std::lock_guard lock(launch_.one_at_a_time);
        launch_.local_bytes = std::max(launch_.local_bytes, local_bytes);
        auto& all = launch_.first_lane;
        if (is_first_ && !lanes.empty() && lanes.front()->number == 0 && all.size() < 1U << 20U)
            all.insert(all.end(), lanes.front()->accesses.begin(), lanes.front()->accesses.end());
        if (cache_.empty()) {
            // The driver leaves the cache what local memory does not take, which is dealt in steps.
            static constexpr std::array kSteps{8U, 16U, 32U, 64U, 100U, 132U, 164U, 196U, 228U};
            const std::size_t here = launch_.at_once();
            const std::size_t takes = here * (launch_.local_bytes + Device::kReserved) >> 10U;
            const auto kept = std::lower_bound(kSteps.begin(), kSteps.end() - 1, takes);
            cache_.emplace_back((Device::kLocalAndCache - (std::size_t{*kept} << 10U)) / here);
        }
    }
    play_cache(warps, weights);
    warps_ = static_cast<double>(warps.size());
    phases_ += 1;
    for (Lane* const lane : lanes) {
        lane->accesses.clear();
        lane->left_out = 0;
    }
}

void Group::end() {
    const std::lock_guard lock(launch_.one_at_a_time);
    ++launch_.counted_groups;
    launch_.warps += warps_ * times_;
    launch_.idle += static_cast<double>(std::count(loads_.begin(), loads_.end(), false)) * times_;
    launch_.own_parts |= own_parts_;
    launch_.barriers += (phases_ - 1) * times_;
    launch_.blocks += blocks_;
    launch_.blocks_parted += parted_;
    for (std::size_t warp = 0; warp < loads_.size(); ++warp)
        launch_.blocks_loading += loads_[warp] ? entries_[warp] : 0;
    for (const auto& [site, times] : entered_)
        launch_.entered[site] += times;
    launch_.pieces.push_back(std::move(pieces_));
    for (const auto& [place, counted] : places_) {
        Counted& sum = launch_.places[place];
        sum.lanes += counted.lanes;
        sum.requests += counted.requests;
        sum.sectors += counted.sectors;
        sum.tags += counted.tags;
        sum.found += counted.found;
        sum.visits += counted.visits;
        sum.whole += counted.whole;
        sum.again += counted.again;
        sum.waits += counted.waits;
        sum.passes += counted.passes;
        sum.largest_passes = std::max(sum.largest_passes, counted.largest_passes);
    }
}

}  // namespace counts
