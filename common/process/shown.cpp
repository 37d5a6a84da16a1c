#include "common/process/shown.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace common {
namespace {

// The bytes of the character of UTF-8 that begins here; 0 where none does.
std::size_t character_size(std::string_view text) {
    const auto at = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = at(0);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((at(i) & 0xC0) != 0x80) return 0;
    // Longer than it need be, half a pair of UTF-16, or beyond the last character.
    const bool wrong = (first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F) ||
                       (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F);
    return wrong ? 0 : size;
}

}  // namespace

std::string shown(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        const auto first = static_cast<unsigned char>(text[0]);
        // U+0080 to U+009F are to some terminals what ESC and a letter are to others.
        const bool controls = (size == 1 && (first < 0x20 || first == 0x7F)) ||
                              (size == 2 && first == 0xC2 && (text[1] & 0x20) == 0);
        const std::size_t taken = std::max(size, std::size_t{1});
        for (const char c : text.substr(0, taken)) {
            if (size > 0 && !controls)
                line += c;
            else if (c == '\n')
                line += "\\n";
            else if (c == '\t')
                line += "\\t";
            else
                line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
        text.remove_prefix(taken);
    }
    return line;
}

std::string shell_word(std::string_view word) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_-./,:=+@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + '\'';
}

}  // namespace common
