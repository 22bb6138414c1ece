# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of the checkout that contains it:

    conan create packaging/conan

LibTorch is left out: Conan has none that the torch component could rely on. tests/packages/conan.sh runs it.
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

CHECKOUT = os.path.join("..", "..")


class SteptapeConan(ConanFile):
    name = "steptape"
    description = "TensorBoard event files, operator profiles and MPI training from C++"
    license = "Apache-2.0"
    topics = ("tensorboard", "tfevents", "logging", "profiling", "mpi")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_figure": [True, False],
        "with_images": [True, False],
        "with_mpi": [True, False],
        "with_tool": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "with_figure": False,
        "with_images": False,
        "with_mpi": False,
        "with_tool": False,
    }
    generators = "CMakeDeps"

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, CHECKOUT, "CMakeLists.txt"))
        self.version = re.search(r"^  VERSION ([0-9.]+)$", text, re.MULTILINE).group(1)

    def export_sources(self):
        checkout = os.path.join(self.recipe_folder, CHECKOUT)
        for part in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "proto/*", "src/*", "tools/steptape/*"):
            copy(self, part, checkout, self.export_sources_folder)

    def config_options(self):
        if self.options.shared:
            del self.options.fPIC

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("protobuf/[>=3.21 <4]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("nlohmann_json/[>=3.10 <4]", visible=False)
        if self.options.with_figure:
            self.requires("cairo/[>=1.10 <2]")
        if self.options.with_images:
            self.requires("libjpeg-turbo/[>=2 <4]")
            self.requires("libpng/[>=1.6 <2]")
        if self.options.with_mpi:
            self.requires("openmpi/[>=4 <6]")
        if self.options.with_tool:
            self.requires("cli11/[>=2.1 <3]", visible=False)
            self.requires("fmt/[>=9]", visible=False)
            self.requires("libnghttp2/[>=1.41 <2]", visible=False)

    def build_requirements(self):
        self.tool_requires("protobuf/<host_version>")

    def validate(self):
        check_min_cppstd(self, 17)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"Steptape is for Linux; got {self.settings.os}")

    def generate(self):
        toolchain = CMakeToolchain(self)
        options = {
            "STEPTAPE_WITH_FIGURE": self.options.with_figure,
            "STEPTAPE_WITH_IMAGES": self.options.with_images,
            "STEPTAPE_WITH_MPI": self.options.with_mpi,
            "STEPTAPE_WITH_TORCH": False,
            "STEPTAPE_WITH_SERVER": self.options.with_tool,
            "STEPTAPE_BUILD_TOOLS": self.options.with_tool,
            "STEPTAPE_BUILD_TESTS": False,
            "STEPTAPE_BUILD_EXAMPLES": False,
            "STEPTAPE_BUILD_BENCHMARKS": False,
        }
        for name, value in options.items():
            toolchain.cache_variables[name] = "ON" if value else "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        # Steptape's own package files declare its targets and find each component's dependencies.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "steptape")]
        self.cpp_info.libs = []
