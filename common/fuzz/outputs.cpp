// Names of output files, made of what leads to files in many ways: what is allowed is written, and
// then the input is as it was and each output has what was written to it.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/files/input_file.hpp"
#include "common/files/output_file.hpp"
#include "common/status/status.hpp"

namespace {

namespace fs = std::filesystem;

void must(bool condition) {
    if (!condition) std::abort();
}

// In a folder so deep that no name leads out of what is cleared each time.
class Folder {
 public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "histogram-fuzz-XXXXXX").string();
        must(mkdtemp(name.data()) != nullptr);
        all_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(all_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] fs::path deep() const { return all_ / "1/2/3"; }

 private:
    fs::path all_;
};

fs::path folder() {
    static const Folder own;
    return own.deep();
}

void make_files() {
    fs::remove_all(folder().parent_path().parent_path());
    fs::create_directories(folder() / "x/y");
    std::ofstream(folder() / "in") << "kept";
    std::ofstream(folder() / "old") << "old";
    std::ofstream(folder() / "k.cl") << "kept";
    std::ofstream(folder() / "new.unfinished-00000000") << "left";
    fs::create_hard_link(folder() / "in", folder() / "hard");
    fs::create_symlink("in", folder() / "link");
    fs::create_symlink("new", folder() / "to-new");
    fs::create_symlink("loop", folder() / "loop");
    fs::create_symlink("../..", folder() / "x/y/up");
}

std::string name_of(std::string_view bytes) {
    static constexpr std::array kParts{"/",    "./",   "../",    "x/",   "y/", "up/", "in", "old",
                                       "hard", "link", "to-new", "loop", "x",  "new", "..", "k.cl"};
    std::string name;
    int up = 0;
    for (const char byte : bytes.substr(0, 12)) {
        const std::string part = kParts[static_cast<unsigned char>(byte) % kParts.size()];
        if (part.starts_with("..") && ++up > 3) break;
        if (part != "/" || !name.empty()) name += part;
    }
    return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    make_files();
    fs::current_path(folder());
    std::vector<common::NamedFile> outputs;
    for (std::size_t at = 0; at <= size && outputs.size() < 3;) {
        const std::size_t end = std::min(text.find('\n', at), size);
        outputs.push_back({"output " + std::to_string(outputs.size()),
                           name_of(std::string_view(text).substr(at, end - at))});
        at = end + 1;
    }
    try {
        common::require_output_files(outputs, {{"IMAGE", "in"}});
        for (const common::NamedFile& output : outputs)
            common::write_whole(output.path, output.name);
        for (const common::NamedFile& output : outputs)
            must(common::read_whole(output.path) == output.name);
    } catch (const common::BadInput& error) {
        must(*error.what() != '\0');
    }
    must(common::read_whole("in") == "kept" && common::read_whole("k.cl") == "kept");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder()))
        must(entry.path().filename() == "new.unfinished-00000000" ||
             entry.path().string().find(".unfinished-") == std::string::npos);
    fs::current_path("/");
    return 0;
}
