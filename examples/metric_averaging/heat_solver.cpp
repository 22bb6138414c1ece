// SPDX-License-Identifier: Apache-2.0
#include "heat_solver.h"

#include <algorithm>
#include <cstddef>

namespace {

constexpr int kUpwards = 1;
constexpr int kDownwards = 2;

}  // namespace

HeatSolver::HeatSolver(std::int64_t cells, MPI_Comm communicator)
    : communicator_(communicator), cells_(cells) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(communicator_, &rank);
  MPI_Comm_size(communicator_, &size);
  firstRow_ = cells_ * rank / size;
  rows_ = cells_ * (rank + 1) / size - firstRow_;
  rankAbove_ = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  rankBelow_ = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

  now_.assign(at(rows_ + 2, 0), 0.0);
  if (rank == 0) {
    std::fill(now_.begin(), now_.begin() + static_cast<std::ptrdiff_t>(at(1, 0)), 1.0);
  }
  next_ = now_;
}

void HeatSolver::exchangeHalo() {
  const int count = static_cast<int>(cells_ + 2);
  MPI_Sendrecv(row(now_, 1), count, MPI_DOUBLE, rankAbove_, kUpwards, row(now_, rows_ + 1), count,
               MPI_DOUBLE, rankBelow_, kUpwards, communicator_, MPI_STATUS_IGNORE);
  MPI_Sendrecv(row(now_, rows_), count, MPI_DOUBLE, rankBelow_, kDownwards, row(now_, 0), count,
               MPI_DOUBLE, rankAbove_, kDownwards, communicator_, MPI_STATUS_IGNORE);
}

double HeatSolver::relax() {
  double squares = 0;
  for (std::int64_t y = 1; y <= rows_; ++y) {
    const double* above = row(now_, y - 1);
    const double* here = row(now_, y);
    const double* below = row(now_, y + 1);
    double* result = row(next_, y);
    for (std::int64_t x = 1; x <= cells_; ++x) {
      result[x] = 0.25 * (above[x] + below[x] + here[x - 1] + here[x + 1]);
      const double residual = result[x] - here[x];
      squares += residual * residual;
    }
  }
  // Both have the same edges; the next exchange overwrites the halo.
  now_.swap(next_);
  return squares;
}

std::vector<float> HeatSolver::field() const {
  std::vector<float> cells;
  cells.reserve(static_cast<std::size_t>(rows_ * cells_));
  for (std::int64_t y = 1; y <= rows_; ++y) {
    for (std::int64_t x = 1; x <= cells_; ++x) {
      cells.push_back(static_cast<float>(now_[at(y, x)]));
    }
  }
  return cells;
}
