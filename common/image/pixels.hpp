/// @file
/// A buffer of 8-bit pixels.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace common {

/// Leaves new elements as the memory comes instead of zeroing them. Where several threads fill a
/// large buffer, the first one to touch a page pays for it, so none should touch all of them first.
template <typename T>
struct UninitializedAllocator : std::allocator<T> {
    template <typename U>
    struct rebind {
        using other = UninitializedAllocator<U>;
    };
    template <typename U>
    void construct(U* element) noexcept {
        ::new (static_cast<void*>(element)) U;
    }
    template <typename U, typename... Arguments>
    void construct(U* element, Arguments&&... arguments) {
        std::construct_at(element, std::forward<Arguments>(arguments)...);
    }
};

/// One byte a pixel. PixelBuffer(n) and resize(n) do not set the new pixels.
using PixelBuffer = std::vector<std::uint8_t, UninitializedAllocator<std::uint8_t>>;

}  // namespace common
