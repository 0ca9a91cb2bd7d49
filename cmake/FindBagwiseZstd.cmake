# Target bagwise::zstd, with Debian's libzstd-dev or any other that has zstd.h.
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BagwiseZstd REQUIRED_VARS ZSTD_LIBRARY ZSTD_INCLUDE_DIR)
if(BagwiseZstd_FOUND AND NOT TARGET bagwise::zstd)
  add_library(bagwise::zstd UNKNOWN IMPORTED)
  set_target_properties(bagwise::zstd PROPERTIES
    IMPORTED_LOCATION ${ZSTD_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ZSTD_INCLUDE_DIR})
endif()
