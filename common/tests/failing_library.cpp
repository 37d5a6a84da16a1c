// A C library that fails once: to preload (LD_PRELOAD) into a program, whose N-th call of a kind
// then fails as it may on any machine. FAILING_LIBRARY=KIND:N names it, once `main` has begun:
//
//   malloc   any allocation of the process gets no memory
//   file     open, fread, write, fsync or rename by the program itself: as on a disk that
//            is broken or full
//
// Where N is more than there are, it ends with exit status 99. What is renamed before it is on disk
// ends the program with 98: where the power fails then, neither file is whole.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> countdown = 0;  // 0: none fails, or none any more
enum class Kind { kNone, kMalloc, kFile } kind = Kind::kNone;
std::uintptr_t program_begin = 0;  // in memory
std::uintptr_t program_end = 0;

bool fails(Kind of) {
    return kind == of && countdown > 0 && --countdown == 0;
}

// Not for a driver's compiler, which ends the process.
bool is_the_programs(const void* caller) {
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    return at >= program_begin && at < program_end;
}

// The first that is told of is the program itself.
int note_where_it_is(dl_phdr_info* about, std::size_t, void*) {
    for (int i = 0; i < about->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = about->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        program_begin = about->dlpi_addr + part.p_vaddr;
        program_end = program_begin + part.p_memsz;
    }
    return 1;
}

#define program_calls is_the_programs(__builtin_return_address(0))
#define fails_here(kind) (program_calls && fails(kind))

template <typename Function>
Function* real(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) real(&(name), #name)

int failed_with(int error) {
    errno = error;
    return -1;
}

bool is_on_disk = true;  // what has been written

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int counting_main(int argc, char** argv, char** environment) {
    const char* const told = std::getenv("FAILING_LIBRARY");
    const char* const number = told != nullptr ? std::strchr(told, ':') : nullptr;
    dl_iterate_phdr(note_where_it_is, nullptr);
    if (number != nullptr) {
        kind = told[0] == 'm' ? Kind::kMalloc : Kind::kFile;
        countdown = std::atol(number + 1);
    }
    // Not again in what this one starts.
    unsetenv("FAILING_LIBRARY");
    return real_main(argc, argv, environment);
}

__attribute__((destructor)) void say_that_none_failed() {
    if (countdown > 0) _exit(99);
}

}  // namespace

extern "C" {
// What the C library has under these names.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

void* malloc(std::size_t size) {
    if (!fails(Kind::kMalloc)) return __libc_malloc(size);
    errno = ENOMEM;
    return nullptr;
}
void* calloc(std::size_t count, std::size_t size) {
    if (!fails(Kind::kMalloc)) return __libc_calloc(count, size);
    errno = ENOMEM;
    return nullptr;
}
void* realloc(void* memory, std::size_t size) {
    if (!fails(Kind::kMalloc)) return __libc_realloc(memory, size);
    errno = ENOMEM;
    return nullptr;
}

int open(const char* path, int flags, ...) {
    std::va_list more;
    va_start(more, flags);
    const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails_here(Kind::kFile) ? failed_with(EMFILE) : REAL(open)(path, flags, mode);
}
std::size_t fread(void* to, std::size_t size, std::size_t count, std::FILE* file) {
    if (fails_here(Kind::kFile)) {  // from here on, as of a disk: a folder takes its place
        const int folder = REAL(open)("/", O_RDONLY);
        dup2(folder, fileno(file));
        close(folder);
    }
    return REAL(fread)(to, size, count, file);
}
// As on a disk that becomes full: first a part is written, then nothing. (Who writes a megabyte
// asks whether there is room for it at once.)
ssize_t write(int file, const void* from, std::size_t size) {
    if (fails_here(Kind::kFile)) return failed_with(ENOSPC);
    is_on_disk = false;
    return REAL(write)(file, from, size > 100 && size < 1'000'000 ? size / 2 : size);
}
int fsync(int file) {
    if (fails_here(Kind::kFile)) return failed_with(EIO);
    is_on_disk = true;
    return REAL(fsync)(file);
}
int rename(const char* from, const char* to) {
    if (program_calls && !is_on_disk) _exit(98);
    return fails_here(Kind::kFile) ? failed_with(EIO) : REAL(rename)(from, to);
}

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
    real_main = main;
    return REAL(__libc_start_main)(counting_main, argc, argv, init, fini, rtld_fini, stack_end);
}
}
