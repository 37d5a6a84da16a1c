// What an API creates, given back where its name goes out of scope: after a return and after an
// exception, the last one first. The calls that create an object and those that take it stand on
// the page.
#pragma once

#include <utility>

namespace common {

/// Owns one object, or none. It converts to the raw handle or pointer, and its address is that of
/// the raw handle, as clSetKernelArg wants it: `clSetKernelArg(kernel, 0, sizeof(cl_mem),
/// &pixels)`.
template <typename Raw, auto release>
class Handle {
 public:
    Handle() = default;
    Handle(Raw raw) : raw_(raw) {}  // NOLINT(google-explicit-constructor): of what a call returns
    Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (raw_ != nullptr) release(raw_);
    }

    operator Raw() const { return raw_; }  // NOLINT(google-explicit-constructor): for every call

    /// For a call that writes the handle, such as the event of a command, or cudaMalloc. It
    /// releases the object that it owned.
    Raw* out() {
        *this = Handle();
        return &raw_;
    }

 private:
    Raw raw_ = nullptr;
};

}  // namespace common
