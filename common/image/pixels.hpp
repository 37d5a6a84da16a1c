// A buffer of 8-bit pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace common {

/// Leaves new elements as the memory comes instead of zeroing them. Where several threads fill a
/// large buffer, the first one to touch a page pays for it, so none should touch all of them first.
template <typename T>
struct UninitializedAllocator {
    using value_type = T;
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T))); }
    void deallocate(T* elements, std::size_t) noexcept { ::operator delete(elements); }
    bool operator==(const UninitializedAllocator&) const = default;
    template <typename U>
    void construct(U* element) noexcept {
        ::new (static_cast<void*>(element)) U;
    }
    template <typename U, typename... Arguments>
    void construct(U* element, Arguments&&... arguments) {
        ::new (static_cast<void*>(element)) U(std::forward<Arguments>(arguments)...);
    }
};

/// One byte a pixel. PixelBuffer(n) and resize(n) do not set the new pixels.
using PixelBuffer = std::vector<std::uint8_t, UninitializedAllocator<std::uint8_t>>;

}  // namespace common

// Compiled once, and well: elsewhere, where compilers do not optimise, each of a billion pixels
// would be begun and ended by itself.
extern template class std::vector<std::uint8_t, common::UninitializedAllocator<std::uint8_t>>;
