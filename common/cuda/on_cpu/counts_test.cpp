#include "common/cuda/on_cpu/counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace counts {
namespace {

Access block(std::uintptr_t site) {
    return {site, 0, 0, 0, kBlock, kGlobal};
}
Access access(std::uintptr_t site, What what, Memory memory, std::uint64_t at, unsigned bytes = 4) {
    return {site, at, 0, static_cast<std::uint8_t>(bytes), what, memory};
}

// A launch of one group whose lanes do this.
std::unique_ptr<Launch> counted(unsigned lanes,
                                const std::function<std::vector<Access>(unsigned lane)>& does) {
    auto launch = std::make_unique<Launch>();
    launch->groups = 1;
    launch->group_size = lanes;
    launch->allocations = {1U << 20U};
    std::vector<Lane> all(lanes);
    std::vector<Lane*> pointers;
    for (unsigned lane = 0; lane < lanes; ++lane) {
        all[lane].number = lane;
        all[lane].accesses = does(lane);
        pointers.push_back(&all[lane]);
    }
    Group group(*launch, 0);
    group.phase(pointers, 1024);
    group.end();
    return launch;
}

// What one access of each lane of a warp comes to.
Counted of_warp(What what, Memory memory, unsigned bytes,
                const std::function<std::uint64_t(unsigned lane)>& at) {
    return counted(
               32,
               [&](unsigned lane) { return std::vector{access(1, what, memory, at(lane), bytes)}; })
        ->places.begin()
        ->second;
}

TEST(Counts, SectorsAreThoseThatAreTouched) {
    EXPECT_EQ(of_warp(kLoad, kGlobal, 1, [](unsigned lane) { return lane; }).sectors, 1);
    EXPECT_EQ(of_warp(kLoad, kGlobal, 16, [](unsigned lane) { return lane * 16; }).sectors, 16);
    EXPECT_EQ(of_warp(kLoad, kGlobal, 1, [](unsigned lane) { return lane * 100; }).sectors, 32);
    EXPECT_EQ(of_warp(kLoad, kGlobal, 4, [](unsigned) { return 30; }).sectors, 2);
}

TEST(Counts, AMatchTakesAPassForEachValueAndALoadThatAllShareTwo) {
    EXPECT_EQ(of_warp(kLoad, kLocal, 16, [](unsigned) { return 64; }).passes, 2);
    EXPECT_EQ(of_warp(kLoad, kLocal, 16, [](unsigned lane) { return lane % 2 * 128; }).passes, 4);
    EXPECT_EQ(of_warp(kLoad, kLocal, 16, [](unsigned lane) { return lane % 4 * 16; }).passes, 4);
    const auto half = [](unsigned lane) { return std::max(lane, 16U) * 16; };
    EXPECT_EQ(of_warp(kLoad, kLocal, 16, half).passes, 4);
    EXPECT_EQ(of_warp(kMatch, kLocal, 4, [](unsigned lane) { return lane % 5; }).passes, 5);
    const Counted looked_up = of_warp(kLoad, kConstant, 1, [](unsigned lane) { return lane / 2; });
    EXPECT_EQ(std::pair(looked_up.passes, looked_up.sectors), std::pair(16.0, 0.0));
}

// So many of the first KiB has the fullest pair of queues where it was measured (test_model.py).
TEST(Counts, KiBsShareQueuesAsMeasured) {
    for (const auto& [all, most] : {std::pair{32, 1}, {64, 2}, {256, 8}, {384, 12}, {1024, 28}}) {
        std::vector<int> of(40);
        for (int kib = 0; kib < all; ++kib)
            ++of.at(queue_of(static_cast<std::uint64_t>(kib) * 4) / 2);
        EXPECT_EQ(*std::max_element(of.begin(), of.end()), most);
    }
    EXPECT_EQ(queue_of(0), queue_of(2));
    EXPECT_NE(queue_of(0), queue_of(1));
}

TEST(Counts, ASectorIsVisitedAsOftenAsItsCommonestAddress) {
    EXPECT_EQ(of_warp(kAddOne, kGlobal, 4, [](unsigned) { return 8; }).visits, 32);
    EXPECT_EQ(of_warp(kAddOne, kGlobal, 4, [](unsigned lane) { return lane % 8 * 4; }).visits, 4);
    EXPECT_EQ(of_warp(kLoad, kGlobal, 4, [](unsigned) { return 8; }).visits, 0);
    EXPECT_EQ(of_warp(kAddOne, kGlobal, 4, [](unsigned lane) { return lane * 4; }).whole, 4);
    EXPECT_EQ(of_warp(kAddOne, kGlobal, 4, [](unsigned lane) { return lane * 8; }).whole, 0);
}

TEST(Counts, ALoadOfWhatTheWarpHasStoredLastAndWarpsThatLoadNothing) {
    const auto launch = counted(64, [](unsigned lane) {
        if (lane >= 32) return std::vector{access(1, kStore, kGlobal, 0)};
        return std::vector{access(1, kStore, kGlobal, lane * 4), access(2, kLoad, kGlobal, lane),
                           access(3, kLoad, kGlobal, 124 - lane * 4)};
    });
    double again = 0;
    for (const auto& [place, counted] : launch->places)
        again += counted.again;
    EXPECT_EQ(again, 1);
    EXPECT_EQ(launch->idle, 1);
    EXPECT_EQ(launch->blocks_loading / launch->blocks, 0.5);
}

// The loads of a loop that copies come four at a time; no load comes before an atomic, or before
// what its own address comes from.
TEST(Counts, LoadsOfALoopThatCopiesComeBeforeItsStores) {
    const auto loads = [](What what, unsigned turns) {
        Launch launch;
        for (unsigned turn = 0; turn < turns; ++turn) {
            launch.first_lane.push_back(block(1));
            launch.first_lane.push_back(access(2, kLoad, kGlobal, turn));
            launch.first_lane.push_back(access(3, what, kLocal, turn));
        }
        return launch.ahead(turns / 2 * 3 + 1, turns / 2 * 3 + 2).loads;
    };
    EXPECT_EQ(loads(kStore, 8), 4);
    EXPECT_EQ(loads(kStore, 3), 1);
    EXPECT_EQ(loads(kAddOne, 8), 1);
    EXPECT_EQ(loads(kLoad, 8), 1);
    Launch launch;
    launch.first_lane = {block(1), access(2, kLoad, kGlobal, 0), access(3, kLoad, kGlobal, 8)};
    EXPECT_EQ(launch.ahead(1, 2).loads, 1);
    EXPECT_EQ(launch.ahead(1, 3).loads, 2);
}

TEST(Counts, PassesAreTheWordsOfTheFullestBank) {
    EXPECT_EQ(of_warp(kLoad, kLocal, 4, [](unsigned lane) { return lane * 4; }).passes, 1);
    EXPECT_EQ(of_warp(kLoad, kLocal, 4, [](unsigned lane) { return lane * 8; }).passes, 2);
    EXPECT_EQ(of_warp(kLoad, kLocal, 4, [](unsigned lane) { return lane * 128; }).passes, 32);
    EXPECT_EQ(of_warp(kLoad, kLocal, 16, [](unsigned lane) { return lane * 16; }).passes, 4);
    EXPECT_EQ(of_warp(kLoad, kLocal, 16, [](unsigned lane) { return lane % 8 * 16; }).passes, 4);
    // One word is shared by those that read it, and by those that add a constant 1.
    EXPECT_EQ(of_warp(kLoad, kLocal, 4, [](unsigned) { return 4; }).passes, 1);
    EXPECT_EQ(of_warp(kAddOne, kLocal, 4, [](unsigned) { return 4; }).passes, 1);
    EXPECT_EQ(of_warp(kAtomic, kLocal, 4, [](unsigned) { return 4; }).passes, 32);
}

TEST(Counts, QueuesTakePiecesInTurn) {
    const auto fullest = [](unsigned apart) {
        const auto launch = counted(32, [&](unsigned lane) {
            return std::vector{access(1, kAddOne, kGlobal, std::uint64_t{lane % 2} * apart)};
        });
        const std::vector<double> queues = launch->queues();
        return *std::max_element(queues.begin(), queues.end());
    };
    EXPECT_EQ(fullest(32), 32);
    EXPECT_EQ(fullest(256), 16);
    EXPECT_EQ(fullest(512), 32);
    EXPECT_EQ(fullest(1024), 16);
}

// Where the lanes part they meet again as soon as all paths lead there, wherever the compiler has
// put the blocks: here the last one stands in front of the others.
TEST(Counts, LanesThatPartMeetAgain) {
    const auto launch = counted(32, [](unsigned lane) {
        std::vector<Access> does;
        for (unsigned turn = 0; turn < 3 + lane % 4; ++turn) {
            does.push_back(block(50));
            does.push_back(access(51, kLoad, kGlobal, lane));
            does.push_back(block(60 + lane % 3));
            if (lane % 3 == 1) does.push_back(access(70, kLoad, kGlobal, lane));
            does.push_back(block(40));
            does.push_back(access(41, kLoad, kGlobal, lane));
        }
        does.push_back(block(10));
        does.push_back(access(11, kStore, kGlobal, lane));
        return does;
    });
    for (const auto& [place, counted] : launch->places) {
        const std::uintptr_t site = std::get<0>(place);
        EXPECT_EQ(counted.requests, site == 11 ? 1 : 6) << site;
    }
    EXPECT_EQ(launch->blocks, 6 * 5 + 1);
    EXPECT_EQ(launch->blocks_parted, 6 * 3 + 3 * 2);  // a third each, and those that turn longer
}

// A loop's lanes all finish it before any of them goes on.
TEST(Counts, WhoLeavesALoopWaitsForTheOthers) {
    const auto launch = counted(32, [](unsigned lane) {
        std::vector<Access> does;
        for (unsigned turn = 0; turn <= lane; ++turn)
            does.push_back(block(20));
        does.push_back(block(10));
        does.push_back(access(11, kLoad, kGlobal, 0));
        return does;
    });
    EXPECT_EQ(launch->places.begin()->second.requests, 1);
}

TEST(Counts, OfManyGroupsSomeStandForAll) {
    for (const std::size_t groups : {1, 15, 16, 17, 264, 1056}) {
        double all = 0;
        for (std::size_t group = 0; group < groups; ++group)
            all += stands_for(group, groups);
        EXPECT_NEAR(all, static_cast<double>(groups), 1e-6);
        EXPECT_GT(stands_for(0, groups), 0);
        EXPECT_GT(stands_for(groups - 1, groups), 0);
    }
    std::vector<int> remainders(16);
    for (std::size_t group = 1; group < 791; ++group)
        if (stands_for(group, 792) > 0) ++remainders[group % 16];
    EXPECT_EQ(remainders, std::vector<int>(16, 1));  // groups may take turns with something
}

TEST(Counts, AStoreTakesItsSectorOutOfTheCache) {
    const auto found = [](What between) {
        const auto launch = counted(1, [&](unsigned) {
            return std::vector{access(1, kLoad, kGlobal, 0), access(2, between, kGlobal, 4),
                               access(3, kLoad, kGlobal, 8), access(4, kLoad, kGlobal, 32)};
        });
        double all = 0;
        for (const auto& [place, counted] : launch->places)
            all += counted.found;
        return all;
    };
    EXPECT_EQ(found(kLoad), 2);  // not the fourth: it is in another sector
    EXPECT_EQ(found(kStore), 0);
}

TEST(Counts, OwnArraysAreMemoryWhereLanesPartInThem) {
    const auto places = [](unsigned apart) {
        return counted(32,
                       [&](unsigned lane) {
                           return std::vector{access(1, kStore, kOwn, std::uint64_t{lane} * apart)};
                       })
            ->own_parts;
    };
    EXPECT_FALSE(places(0));
    EXPECT_TRUE(places(4));
    EXPECT_EQ(of_warp(kLoad, kOwn, 4, [](unsigned) { return 4; }).sectors, 4);
    EXPECT_EQ(of_warp(kLoad, kOwn, 4, [](unsigned lane) { return lane * 4; }).sectors, 32);
}

TEST(Counts, OwnArraysOfTwoWarpsAreNotOne) {
    const auto launch = counted(64, [&](unsigned lane) {
        std::vector<Access> does(lane < 32 ? 0 : 100, access(1, kStore, kGlobal, 0));
        does.push_back(access(2, kLoad, kOwn, std::uint64_t{lane % 32} * 4));
        return does;
    });
    EXPECT_EQ(launch->places.rbegin()->second.found, 0);
}

TEST(Counts, WhatFitsOnAMultiprocessor) {
    Launch launch;
    launch.groups = 1000;
    launch.group_size = 256;
    EXPECT_EQ(launch.resident().first, 8U);
    EXPECT_STREQ(launch.resident().second, "work-items");
    launch.local_bytes = 32U << 10U;
    EXPECT_EQ(launch.resident().first, 6U);
    EXPECT_STREQ(launch.resident().second, "local memory");
    launch.groups = 200;
    EXPECT_EQ(launch.at_once(), 2U);
}

}  // namespace
}  // namespace counts
