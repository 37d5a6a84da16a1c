#include "common/report/table.hpp"

#include <gtest/gtest.h>

#include "common/report/report.hpp"

namespace {

using common::number;
using common::text_table;

TEST(Table, ColumnsAreAsWideAsTheyNeed) {
    EXPECT_EQ(text_table({{"variant"}, {"ms", true}, {"check"}},
                         {{"serial", "1.25", "match"}, {"threads-atomic", "11.25", "mismatch: x"}}),
              "variant            ms  check\n"
              "--------------  -----  -----------\n"
              "serial           1.25  match\n"
              "threads-atomic  11.25  mismatch: x\n");
}

TEST(Number, HasThreeSignificantDigitsOrIsADash) {
    const std::pair<std::optional<double>, const char*> all[] = {
        {3251.4, "3251"},   {325.14, "325"},      {32.514, "32.5"},    {3.2514, "3.25"},
        {0.32514, "0.325"}, {0.032514, "0.0325"}, {std::nullopt, "-"}, {-100, "-100"},
        {100, "100"},       {10, "10.0"},         {1, "1.00"},         {0.1, "0.100"},
        {0.01, "0.0100"},   {0, "0.000"},         {99.97, "100"},      {99.9999, "100"},
        {9.996, "10.0"},    {0.9996, "1.00"}};
    for (const auto& [value, text] : all)
        EXPECT_EQ(number(value), text);
}

}  // namespace
