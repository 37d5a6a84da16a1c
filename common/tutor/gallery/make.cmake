# cmake -DMISTAKE=file -DFOLDER=folder -P make.cmake: the sources that it changes, changed, into the folder.
include(${CMAKE_CURRENT_LIST_DIR}/gallery.cmake)
make_mistake(${MISTAKE} ${FOLDER})
