# SPDX-License-Identifier: Apache-2.0
# CPack runs this on the staged files. It adds the copyright file and changelogs to each package, and compresses the
# changelogs and man pages without a time stamp, as Debian's policy requires.

find_program(gzip gzip REQUIRED)

function(compress)
  execute_process(COMMAND ${gzip} -9nf ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
  foreach(file IN LISTS ARGV)
    file(CHMOD ${file}.gz PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endforeach()
endfunction()

# The date of SOURCE_DATE_EPOCH if it is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  set(folder ${root}/share/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${folder}
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  configure_file(${CPACK_STEPTAPE_SOURCE_DIR}/CHANGELOG.md ${folder}/changelog COPYONLY)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${folder}/changelog.Debian @ONLY)
  compress(${folder}/changelog ${folder}/changelog.Debian)
  file(GLOB man_pages ${root}/share/man/man1/*.1)
  if(man_pages)
    compress(${man_pages})
  endif()
endforeach()
