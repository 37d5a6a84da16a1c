// Runs a student's C++: compiled together with the exercise's call.cpp, which calls it.
//
//     program {PIXELS THREADS RESULT}...      files of bytes, and of 32-bit words
//
// It is compiled with each submission, twice: without <fstream>, in half the time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

std::vector<std::uint32_t> call(const std::vector<std::uint8_t>& bytes, unsigned threads);

int main(int argc, char** argv) {
    for (int at = 1; at + 2 < argc; at += 3) {
        std::vector<std::uint8_t> bytes;
        std::FILE* const in = std::fopen(argv[at], "rb");
        if (in == nullptr) return 1;
        for (int byte = std::getc(in); byte != EOF; byte = std::getc(in))
            bytes.push_back(static_cast<std::uint8_t>(byte));
        std::fclose(in);
        const std::vector<std::uint32_t> words =
            call(bytes, static_cast<unsigned>(std::strtoul(argv[at + 1], nullptr, 10)));
        std::FILE* const out = std::fopen(argv[at + 2], "wb");
        if (out == nullptr) return 1;
        std::fwrite(words.data(), sizeof words[0], words.size(), out);
        std::fclose(out);
    }
}
