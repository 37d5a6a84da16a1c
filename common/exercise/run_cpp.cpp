// Runs a student's C++: compiled together with the exercise's call.cpp, which calls it.
//
//     program {PIXELS THREADS RESULT}...      files of bytes, and of 32-bit words
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

std::vector<std::uint32_t> call(const std::vector<std::uint8_t>& bytes, unsigned threads);

int main(int argc, char** argv) {
    for (int at = 1; at + 2 < argc; at += 3) {
        std::ifstream in(argv[at], std::ios::binary);
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
        const std::vector<std::uint32_t> words =
            call(bytes, static_cast<unsigned>(std::strtoul(argv[at + 1], nullptr, 10)));
        std::ofstream out(argv[at + 2], std::ios::binary);
        out.write(reinterpret_cast<const char*>(words.data()),
                  static_cast<std::streamsize>(words.size() * sizeof words[0]));
    }
}
