# xxHash, of which only the header is used while compiling: XXHASH_INCLUDE_DIR.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BagwiseXxHash REQUIRED_VARS XXHASH_INCLUDE_DIR)
