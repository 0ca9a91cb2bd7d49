# Target bagwise::openblas. Linked by name: libblas may silently be the reference BLAS, 15 times slower.
find_library(OPENBLAS_LIBRARY openblas)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BagwiseOpenBLAS REQUIRED_VARS OPENBLAS_LIBRARY)
if(BagwiseOpenBLAS_FOUND AND NOT TARGET bagwise::openblas)
  add_library(bagwise::openblas UNKNOWN IMPORTED)
  set_target_properties(bagwise::openblas PROPERTIES IMPORTED_LOCATION ${OPENBLAS_LIBRARY})
endif()
