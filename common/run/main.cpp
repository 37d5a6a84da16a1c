// What starts a lesson's `main`, which CMake calls lesson_main (the library lesson_program): once,
// as its reader does, or once for each command line of --serve. So no lesson has to know of it.
#include "common/process/status.hpp"
#include "common/run/serve.hpp"

int lesson_main(int argc, char** argv);

int main(int argc, char** argv) try {
    if (!common::is_asked_to_serve(argc, argv)) return lesson_main(argc, argv);
    return common::serve(argv[0], [](int count, const char* const* words) {
        return lesson_main(count, const_cast<char**>(words));
    });
} catch (...) {
    return common::report_exception(argv[0]);
}
