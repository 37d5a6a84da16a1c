// A plugin for Oclgrind: what the work-items of an OpenCL kernel do, recorded for counts.cpp. Where
// Oclgrind runs the first and the last group alone (--quick), these stand for all.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <oclgrind/Context.h>
#include <oclgrind/Kernel.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "common/cuda/on_cpu/counts.hpp"

namespace {

using counts::Access;
using llvm::Instruction;

// In the order of the program: what is called stands before what calls it.
std::vector<const Instruction*> instructions;

std::string name_of(std::uintptr_t site) {
    const llvm::DILocation* const at = instructions[site / 2]->getDebugLoc().get();
    return at == nullptr ? "" : at->getFilename().str() + ":" + std::to_string(at->getLine());
}

// Which values of the first work-item come of a load whose value nothing has needed yet: an address
// or a branch.
class Needs {
 public:
    explicit Needs(counts::Launch& launch) : launch_(launch) {}

    void executed(const oclgrind::WorkItem& item, const Instruction& it, std::size_t now,
                  std::optional<std::size_t> loads) {
        std::set<std::size_t> of;
        if (const auto* const phi = llvm::dyn_cast<llvm::PHINode>(&it)) {
            const int n = phi->getBasicBlockIndex(item.getPreviousBlock());
            if (n >= 0) of = of_[phi->getIncomingValue(static_cast<unsigned>(n))];
        } else if (llvm::isa<llvm::LoadInst>(it)) {
            if (loads) of.insert(*loads);
        } else {
            for (const llvm::Value* const each : it.operands())
                of.insert(of_[each].begin(), of_[each].end());
        }
        if (llvm::isa<llvm::BranchInst>(it) || llvm::isa<llvm::SwitchInst>(it)) need(of, now);
        if (const auto* const call = llvm::dyn_cast<llvm::CallInst>(&it))
            if (const llvm::Function* const function = call->getCalledFunction())
                for (unsigned i = 0; i < function->arg_size() && i < call->arg_size(); ++i)
                    of_[function->getArg(i)] = of_[call->getArgOperand(i)];
        of_[&it] = std::move(of);
    }

    void address(const llvm::Value* pointer, std::size_t now) { need(of_[pointer], now); }

 private:
    void need(const std::set<std::size_t>& loads, std::size_t now) {
        for (const std::size_t load : loads)
            if (known_.insert(load).second) launch_.needed.emplace_back(load, now);
    }

    counts::Launch& launch_;
    std::map<const llvm::Value*, std::set<std::size_t>> of_;
    std::set<std::size_t> known_;
};

class Count : public oclgrind::Plugin {
 public:
    using Plugin::Plugin;
    bool isThreadSafe() const override { return false; }

    void kernelBegin(const oclgrind::KernelInvocation* invocation) override {
        const oclgrind::Kernel& kernel = *invocation->getKernel();
        const oclgrind::Size3 size = invocation->getLocalSize();
        groups_ = invocation->getNumGroups();
        name_ = kernel.getName();
        launch_ = std::make_unique<counts::Launch>();
        launch_->group_size = size.x * size.y * size.z;
        launch_->groups = groups_.x * groups_.y * groups_.z;
        is_new_ = known_.insert({name_, launch_->groups, launch_->group_size}).second;
        needs_ = std::make_unique<Needs>(*launch_);
        sites_.clear();
        instructions.clear();
        allocations_.clear();
        for (const llvm::Function& function : *kernel.getFunction()->getParent())
            for (const llvm::BasicBlock& block : function)
                for (const Instruction& each : block) {
                    sites_[&each] = instructions.size() * 2 + 1;
                    instructions.push_back(&each);
                }
    }

    void kernelEnd(const oclgrind::KernelInvocation*) override {
        if (!is_new_) return;
        const std::vector<std::size_t> follow = launch_->to_follow();
        auto& needed = launch_->needed;
        needed.erase(std::remove_if(needed.begin(), needed.end(),
                                    [&](const auto& each) {
                                        return std::count(follow.begin(), follow.end(),
                                                          each.first) == 0;
                                    }),
                     needed.end());
        launch_->write(name_, &name_of);
    }

    void workGroupBegin(const oclgrind::WorkGroup* group) override {
        lanes_.clear();
        lanes_.resize(launch_->group_size);
        at_.assign(launch_->group_size, 0);
        const oclgrind::Size3 id = group->getGroupID();
        const std::size_t number = id.x + groups_.x * (id.y + groups_.y * id.z);
        group_.emplace(*launch_, number);
        local_.clear();
        is_first_ = number == 0;
    }
    void workGroupBarrier(const oclgrind::WorkGroup*, std::uint32_t) override { phase(); }
    void workGroupComplete(const oclgrind::WorkGroup*) override {
        phase();
        group_->end();
        group_.reset();
    }

    void memoryLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem* item,
                    std::size_t address, std::size_t bytes) override {
        note(memory, item, address, bytes, counts::kLoad);
    }
    void memoryStore(const oclgrind::Memory* memory, const oclgrind::WorkItem* item,
                     std::size_t address, std::size_t bytes, const std::uint8_t*) override {
        note(memory, item, address, bytes, counts::kStore);
    }
    void memoryAtomicLoad(const oclgrind::Memory* memory, const oclgrind::WorkItem* item,
                          oclgrind::AtomicOp operation, std::size_t address,
                          std::size_t bytes) override {
        bool adds_one = operation == oclgrind::AtomicInc;
        if (operation == oclgrind::AtomicAdd) {
            const auto* const value =
                llvm::dyn_cast<llvm::ConstantInt>(item->getCurrentInstruction()->getOperand(1));
            adds_one = value != nullptr && value->isOne();
        }
        note(memory, item, address, bytes, adds_one ? counts::kAddOne : counts::kAtomic);
    }
    void instructionExecuted(const oclgrind::WorkItem* item, const Instruction* it,
                             const oclgrind::TypedValue&) override {
        const std::size_t number = number_of(item);
        if (!is_new_) return;
        begin_block(number, it);
        if (!is_first_ || number != 0) return;
        needs_->executed(*item, *it, now(), loads_);
        loads_.reset();
    }

 private:
    std::size_t number_of(const oclgrind::WorkItem* item) const {
        const oclgrind::Size3 id = item->getLocalID(), size = item->getWorkGroup()->getGroupSize();
        return id.x + size.x * (id.y + size.y * id.z);
    }

    // A block begins where the work-item is in another, or further up.
    std::uintptr_t begin_block(std::size_t number, const Instruction* it) {
        const std::uintptr_t site = sites_[it], before = std::exchange(at_[number], site);
        if (before == 0 || before > site ||
            instructions[before / 2]->getParent() != it->getParent())
            lanes_[number].accesses.push_back(
                {sites_[&it->getParent()->front()] - 1, 0, 0, 0, counts::kBlock, counts::kGlobal});
        return site;
    }

    // Of the first work-item, how many accesses it has made.
    std::size_t now() const { return launch_->first_lane.size() + lanes_[0].accesses.size(); }

    void note(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, std::size_t address,
              std::size_t bytes, counts::What what) {
        if (!is_new_ || item == nullptr) return;
        const std::size_t number = number_of(item);
        const Instruction* const it = item->getCurrentInstruction();
        const std::uintptr_t site = begin_block(number, it);
        Access access{site, memory->extractOffset(address),
                      0,    static_cast<std::uint8_t>(bytes),
                      what, counts::kGlobal};
        const std::size_t buffer = memory->extractBuffer(address);
        if (memory->getAddressSpace() == oclgrind::AddrSpaceLocal) {
            access.memory = counts::kLocal;
            local_[buffer] = memory->getBuffer(address)->size;
        } else if (memory->getAddressSpace() == oclgrind::AddrSpacePrivate) {
            access.memory = counts::kOwn;
            access.at += buffer << 20U;
        } else if (what == counts::kLoad &&
                   llvm::getLoadStorePointerOperand(it)->getType()->getPointerAddressSpace() ==
                       oclgrind::AddrSpaceConstant) {
            access.memory = counts::kConstant;
            access.at = address;
        } else {
            const auto allocation = allocations_.try_emplace(buffer, allocations_.size());
            if (allocation.second) launch_->allocations.push_back(memory->getBuffer(address)->size);
            access.allocation = static_cast<std::uint16_t>(allocation.first->second);
        }
        if (is_first_ && number == 0) {
            if (what != counts::kStore && what != counts::kLoad)
                needs_->address(it->getOperand(0), now());
            else
                needs_->address(llvm::getLoadStorePointerOperand(it), now());
            if (what == counts::kLoad && access.memory == counts::kGlobal) loads_ = now();
        }
        lanes_[number].accesses.push_back(access);
    }

    void phase() {
        if (!is_new_) return;
        std::vector<counts::Lane*> lanes;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            lanes_[i].number = static_cast<unsigned>(i);
            lanes.push_back(&lanes_[i]);
        }
        std::size_t local_bytes = 0;
        for (const auto& [buffer, bytes] : local_)
            local_bytes += bytes;
        group_->phase(lanes, local_bytes);
    }

    std::set<std::tuple<std::string, std::size_t, std::size_t>> known_;
    bool is_new_ = false, is_first_ = false;
    std::string name_;
    oclgrind::Size3 groups_;
    std::unique_ptr<counts::Launch> launch_;
    std::unique_ptr<Needs> needs_;
    std::optional<counts::Group> group_;
    std::optional<std::size_t> loads_;  // what the first work-item's instruction has loaded
    std::unordered_map<const Instruction*, std::uintptr_t> sites_;
    std::map<std::size_t, std::size_t> allocations_;
    std::map<std::size_t, std::size_t> local_;  // bytes of the group's variables
    std::vector<counts::Lane> lanes_;
    std::vector<std::uintptr_t> at_;  // where each work-item is
};

std::unique_ptr<Count> count;

}  // namespace

extern "C" void initializePlugins(oclgrind::Context* context) {
    if (std::getenv("COUNTS") == nullptr) return;
    count = std::make_unique<Count>(context);
    context->registerPlugin(count.get());
}
extern "C" void releasePlugins(oclgrind::Context* context) {
    if (count != nullptr) context->unregisterPlugin(count.get());
    count.reset();
}
