// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "steptape/base/export.h"

#include <ATen/core/TensorBody.h>

// Declared, not included: a program with such values includes their definitions anyway, and other
// programs save a second per compiled file.
namespace c10 {
struct IValue;
template <class T>
class List;
template <class Key, class Value>
class Dict;
}  // namespace c10

namespace steptape {

/// A tensor and its position: "0.mask" is the entry "mask" of the first argument.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// Returns tensors one after the other.
class TensorCursor {
 public:
  explicit TensorCursor(const std::vector<at::Tensor>& tensors) : tensors_(&tensors) {}
  const at::Tensor& next() { return tensors_->at(position_++); }

 private:
  const std::vector<at::Tensor>* tensors_;
  std::size_t position_ = 0;
};

/// Finds the tensors in the input or output of a model, and replaces them.
///
/// Supported are tensors, c10::IValue, std::vector, std::array, std::pair, std::tuple,
/// std::optional, std::map, std::unordered_map, c10::List and c10::Dict, nested to any depth. Any
/// other type counts as one without tensors. Specialize this for your own struct with tensors:
///
///     template <>
///     struct steptape::TensorTree<Batch> {
///       static void collect(const Batch& batch, const std::string& name,
///                           std::vector<NamedTensor>* out) {
///         TensorTree<at::Tensor>::collect(batch.image, treePath(name, "image"), out);
///       }
///       static Batch rebuilt(const Batch& batch, TensorCursor& tensors) {
///         return Batch{TensorTree<at::Tensor>::rebuilt(batch.image, tensors), batch.size};
///       }
///     };
///
/// `collect` appends each tensor with its name. `rebuilt` returns a copy of the value with the
/// cursor's tensors, in the same order. Both skip undefined tensors.
template <typename T, typename = void>
struct TensorTree {
  static void collect(const T&, const std::string&, std::vector<NamedTensor>*) {}
  static T rebuilt(const T& value, TensorCursor&) { return value; }
};

/// Returns the path of `child` inside `name`.
inline std::string treePath(const std::string& name, const std::string& child) {
  return name.empty() ? child : name + "." + child;
}

template <>
struct TensorTree<at::Tensor> {
  static void collect(const at::Tensor& tensor, const std::string& name,
                      std::vector<NamedTensor>* out) {
    if (tensor.defined()) {
      out->push_back({name.empty() ? "0" : name, tensor});
    }
  }
  static at::Tensor rebuilt(const at::Tensor& tensor, TensorCursor& tensors) {
    return tensor.defined() ? tensors.next() : tensor;
  }
};

template <>
struct STEPTAPE_EXPORT TensorTree<c10::IValue> {
  static void collect(const c10::IValue& value, const std::string& name,
                      std::vector<NamedTensor>* out);
  static c10::IValue rebuilt(const c10::IValue& value, TensorCursor& tensors);
};

namespace detail::libtorch {

/// Returns a key as part of a path.
inline std::string keyName(const std::string& key) {
  return key;
}
template <typename Key, typename = std::enable_if_t<std::is_integral_v<Key>>>
std::string keyName(Key key) {
  return std::to_string(key);
}

/// Sequences of one type whose elements can be indexed.
template <typename Sequence>
struct SequenceTree {
  using Element = typename Sequence::value_type;

  static void collect(const Sequence& values, const std::string& name,
                      std::vector<NamedTensor>* out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      TensorTree<Element>::collect(values[i], treePath(name, std::to_string(i)), out);
    }
  }
  static Sequence rebuilt(const Sequence& values, TensorCursor& tensors) {
    Sequence copy = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      copy[i] = TensorTree<Element>::rebuilt(values[i], tensors);
    }
    return copy;
  }
};

/// Dictionaries, in ascending order of keys: unordered ones may iterate differently in a copy.
template <typename Map>
struct MapTree {
  using Element = typename Map::mapped_type;

  static void collect(const Map& map, const std::string& name, std::vector<NamedTensor>* out) {
    for (const auto& [key, value] : sorted(map)) {
      TensorTree<Element>::collect(*value, treePath(name, keyName(key)), out);
    }
  }
  static Map rebuilt(const Map& map, TensorCursor& tensors) {
    Map copy = map;
    for (const auto& [key, value] : sorted(map)) {
      copy.at(key) = TensorTree<Element>::rebuilt(*value, tensors);
    }
    return copy;
  }

 private:
  static auto sorted(const Map& map) {
    std::map<typename Map::key_type, const Element*> entries;
    for (const auto& [key, value] : map) {
      entries.emplace(key, &value);
    }
    return entries;
  }
};

/// std::tuple and std::pair.
template <typename Tuple, std::size_t... kIndex>
void collectElements(const Tuple& tuple, const std::string& name, std::vector<NamedTensor>* out,
                     std::index_sequence<kIndex...>) {
  (TensorTree<std::decay_t<std::tuple_element_t<kIndex, Tuple>>>::collect(
       std::get<kIndex>(tuple), treePath(name, std::to_string(kIndex)), out),
   ...);
}
template <typename Tuple, std::size_t... kIndex>
auto rebuiltElements(const Tuple& tuple, TensorCursor& tensors, std::index_sequence<kIndex...>) {
  // Braces: the elements must take tensors from the cursor from left to right.
  return std::tuple<std::decay_t<std::tuple_element_t<kIndex, Tuple>>...>{
      TensorTree<std::decay_t<std::tuple_element_t<kIndex, Tuple>>>::rebuilt(
          std::get<kIndex>(tuple), tensors)...};
}

}  // namespace detail::libtorch

template <typename T>
struct TensorTree<std::vector<T>> : detail::libtorch::SequenceTree<std::vector<T>> {};

template <typename T, std::size_t kSize>
struct TensorTree<std::array<T, kSize>> : detail::libtorch::SequenceTree<std::array<T, kSize>> {};

template <typename Key, typename T, typename... Rest>
struct TensorTree<std::map<Key, T, Rest...>>
    : detail::libtorch::MapTree<std::map<Key, T, Rest...>> {};

template <typename Key, typename T, typename... Rest>
struct TensorTree<std::unordered_map<Key, T, Rest...>>
    : detail::libtorch::MapTree<std::unordered_map<Key, T, Rest...>> {};

template <typename... T>
struct TensorTree<std::tuple<T...>> {
  static void collect(const std::tuple<T...>& tuple, const std::string& name,
                      std::vector<NamedTensor>* out) {
    detail::libtorch::collectElements(tuple, name, out, std::index_sequence_for<T...>());
  }
  static auto rebuilt(const std::tuple<T...>& tuple, TensorCursor& tensors) {
    return detail::libtorch::rebuiltElements(tuple, tensors, std::index_sequence_for<T...>());
  }
};

template <typename First, typename Second>
struct TensorTree<std::pair<First, Second>> {
  static void collect(const std::pair<First, Second>& pair, const std::string& name,
                      std::vector<NamedTensor>* out) {
    detail::libtorch::collectElements(pair, name, out, std::index_sequence_for<First, Second>());
  }
  static std::pair<First, Second> rebuilt(const std::pair<First, Second>& pair,
                                          TensorCursor& tensors) {
    return {TensorTree<First>::rebuilt(pair.first, tensors),
            TensorTree<Second>::rebuilt(pair.second, tensors)};
  }
};

template <typename T>
struct TensorTree<std::optional<T>> {
  static void collect(const std::optional<T>& value, const std::string& name,
                      std::vector<NamedTensor>* out) {
    if (value) {
      TensorTree<T>::collect(*value, name, out);
    }
  }
  static std::optional<T> rebuilt(const std::optional<T>& value, TensorCursor& tensors) {
    return value ? std::optional<T>(TensorTree<T>::rebuilt(*value, tensors)) : value;
  }
};

template <typename T>
struct TensorTree<c10::List<T>> {
  static void collect(const c10::List<T>& list, const std::string& name,
                      std::vector<NamedTensor>* out) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      TensorTree<T>::collect(list.get(i), treePath(name, std::to_string(i)), out);
    }
  }
  static c10::List<T> rebuilt(const c10::List<T>& list, TensorCursor& tensors) {
    c10::List<T> copy = list.copy();
    for (std::size_t i = 0; i < list.size(); ++i) {
      copy.set(i, TensorTree<T>::rebuilt(list.get(i), tensors));
    }
    return copy;
  }
};

template <typename Key, typename T>
struct TensorTree<c10::Dict<Key, T>> {
  static void collect(const c10::Dict<Key, T>& dict, const std::string& name,
                      std::vector<NamedTensor>* out) {
    for (const auto& entry : dict) {
      TensorTree<T>::collect(entry.value(), treePath(name, detail::libtorch::keyName(entry.key())),
                             out);
    }
  }
  static c10::Dict<Key, T> rebuilt(const c10::Dict<Key, T>& dict, TensorCursor& tensors) {
    c10::Dict<Key, T> copy = dict.copy();
    for (const auto& entry : dict) {
      copy.insert_or_assign(entry.key(), TensorTree<T>::rebuilt(entry.value(), tensors));
    }
    return copy;
  }
};

}  // namespace steptape
