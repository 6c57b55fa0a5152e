// The cases of a program, named on its command line; after the word `wrong` a case runs with its bug.
#pragma once
#include <cstdio>
#include <cstring>

template <typename Case, int count, typename Run>
void run_named(int argc, char **argv, const Case (&cases)[count], Run run) {
  bool wrong = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "wrong")) {
      wrong = true;
      continue;
    }
    for (const Case &one : cases)
      if (!strcmp(argv[i], one.name)) run(one, wrong);
    wrong = false;
  }
}

struct Judged {
  const char *name;
  bool (*has_right_answer)(bool wrong);
};

inline void run_judged(const Judged &one, bool wrong) {
  bool right = one.has_right_answer(wrong);
  if (!wrong || right) printf("%s%s\n", one.name, right ? "" : ": wrong answer");
}
