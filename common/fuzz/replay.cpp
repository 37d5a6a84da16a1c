// The corpus once through a fuzz target, with any compiler: replay FOLDER.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "common/files/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    int inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argc > 1 ? argv[1] : ".")) {
        std::printf("%s\n", entry.path().c_str());
        std::fflush(stdout);  // so that the last line names the one that ends the program
        const std::string bytes = common::read_whole(entry.path());
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        ++inputs;
    }
    return inputs > 0 ? 0 : 1;
}
