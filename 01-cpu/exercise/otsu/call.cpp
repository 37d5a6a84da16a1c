// How your function is called, with the 256 counts as bytes. This stands behind your file when it
// is compiled; it is not for you to edit.
extern "C" void* exercise_begin() {
    return new unsigned;
}

extern "C" void exercise_part(void* result, const unsigned char* counts, unsigned long) {
    *static_cast<unsigned*>(result) =
        threshold(*reinterpret_cast<const std::array<std::uint32_t, 256>*>(counts));
}

extern "C" const unsigned* exercise_end(void* result, unsigned long* count) {
    *count = 1;
    return static_cast<unsigned*>(result);
}
