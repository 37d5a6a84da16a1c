# TUTORIAL_SANITIZE names what -fsanitize gets (the presets `asan` and `tsan` set it). It goes on the
# whole build, libraries that are fetched included: half-instrumented programs give false reports.
set(TUTORIAL_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")
if(TUTORIAL_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TUTORIAL_SANITIZE}>
                        $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                        $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
    add_link_options(-fsanitize=${TUTORIAL_SANITIZE})
endif()
