// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

/// Computes the temperature of a square plate whose upper edge is kept at 1 and whose other edges
/// are kept at 0: Laplace's equation on a grid, by Jacobi iterations. Uses MPI only and logs
/// nothing.
///
/// Each rank owns a block of rows. It also keeps a copy of the adjacent rows of its neighbors, the
/// halo, and updates it in every iteration.
class HeatSolver {
 public:
  /// @param cells Inner cells on each side; at least the number of ranks.
  HeatSolver(std::int64_t cells, MPI_Comm communicator);

  /// Updates the halo with the rows of the neighbors.
  void exchangeHalo();

  /// Makes one iteration with the current halo.
  ///
  /// @return the sum of the squared residuals of this rank's cells, before the iteration.
  double relax();

  std::int64_t cells() const { return cells_; }
  std::int64_t firstRow() const { return firstRow_; }
  std::int64_t rows() const { return rows_; }
  /// This rank's inner cells, row by row. @shape (rows(), cells())
  std::vector<float> field() const;

 private:
  double* row(std::vector<double>& grid, std::int64_t index) { return &grid[at(index, 0)]; }
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * (cells_ + 2) + column);
  }

  MPI_Comm communicator_;
  std::int64_t cells_;
  std::int64_t firstRow_ = 0;
  std::int64_t rows_ = 0;
  int rankAbove_ = MPI_PROC_NULL;
  int rankBelow_ = MPI_PROC_NULL;
  std::vector<double> now_;   ///< (rows + 2, cells + 2), with halo and edges.
  std::vector<double> next_;  ///< The same shape.
};
