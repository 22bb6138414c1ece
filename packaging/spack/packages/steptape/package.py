# SPDX-License-Identifier: Apache-2.0
# Not run so far: Spack was not reachable. tests/packages/recipes_test.py compares its options and version with the
# project's. It builds the checkout that contains it:
#
#   spack repo add packaging/spack && spack dev-build steptape@0.1.0 +mpi
from spack.package import *


class Steptape(CMakePackage):
    """TensorBoard event files, operator profiles and MPI training from C++."""

    license("Apache-2.0")

    version("0.1.0")

    variant("figure", default=False, description="Figures drawn by Cairo")
    variant("images", default=False, description="Folders of JPEG and PNG files")
    variant("mpi", default=True, description="Logging and training over MPI")
    variant("shared", default=False, description="Shared libraries")
    variant("tools", default=True, description="The command-line tool")
    variant("torch", default=False, description="LibTorch tensors, operator profiles and the trainer")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("protobuf")
    depends_on("zlib-api")
    depends_on("pkgconfig", type="build", when="+figure")
    depends_on("cairo", when="+figure")
    depends_on("libjpeg-turbo", when="+images")
    depends_on("libpng", when="+images")
    depends_on("mpi", when="+mpi")
    depends_on("cli11", type="build", when="+tools")
    depends_on("fmt", when="+tools")
    depends_on("nghttp2", when="+tools")
    depends_on("py-torch", when="+torch")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("STEPTAPE_BUILD_TOOLS", "tools"),
            self.define_from_variant("STEPTAPE_WITH_FIGURE", "figure"),
            self.define_from_variant("STEPTAPE_WITH_IMAGES", "images"),
            self.define_from_variant("STEPTAPE_WITH_MPI", "mpi"),
            self.define_from_variant("STEPTAPE_WITH_SERVER", "tools"),
            self.define_from_variant("STEPTAPE_WITH_TORCH", "torch"),
            self.define("STEPTAPE_BUILD_TESTS", False),
            self.define("STEPTAPE_BUILD_EXAMPLES", False),
            self.define("STEPTAPE_BUILD_BENCHMARKS", False),
        ]
