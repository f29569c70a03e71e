/* SPDX-License-Identifier: BSD-2-Clause */
/* Formulas in the texts of figures: a little of TeX, as characters. So they look alike in all formats, and no
 * text becomes a command of the program that draws. */
#include "format/text.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *letter;
} greek[] = {
    {"alpha", "α"},   {"beta", "β"},  {"gamma", "γ"},  {"delta", "δ"}, {"epsilon", "ε"}, {"zeta", "ζ"},
    {"eta", "η"},     {"theta", "θ"}, {"iota", "ι"},   {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},
    {"nu", "ν"},      {"xi", "ξ"},    {"pi", "π"},     {"rho", "ρ"},   {"sigma", "σ"},   {"tau", "τ"},
    {"upsilon", "υ"}, {"phi", "φ"},   {"chi", "χ"},    {"psi", "ψ"},   {"omega", "ω"},   {"Gamma", "Γ"},
    {"Delta", "Δ"},   {"Theta", "Θ"}, {"Lambda", "Λ"}, {"Xi", "Ξ"},    {"Pi", "Π"},      {"Sigma", "Σ"},
    {"Phi", "Φ"},     {"Psi", "Ψ"},   {"Omega", "Ω"},  {"infty", "∞"}, {"le", "≤"},      {"ge", "≥"},
    {"times", "×"},   {"cdot", "·"},  {"pm", "±"},     {"to", "→"},    {"sqrt", "√"},    {"sum", "∑"},
    {"approx", "≈"},  {"ne", "≠"},    {"ell", "ℓ"},
};

/* Characters, and what they are as super- and subscripts. */
static const struct {
    const char *plain, *above, *below;
} scripts[] = {
    {"0", "⁰", "₀"},  {"1", "¹", "₁"}, {"2", "²", "₂"},  {"3", "³", "₃"},  {"4", "⁴", "₄"},  {"5", "⁵", "₅"},
    {"6", "⁶", "₆"},  {"7", "⁷", "₇"}, {"8", "⁸", "₈"},  {"9", "⁹", "₉"},  {"+", "⁺", "₊"},  {"-", "⁻", "₋"},
    {"=", "⁼", "₌"},  {"(", "⁽", "₍"}, {")", "⁾", "₎"},  {"a", "ᵃ", "ₐ"},  {"b", "ᵇ", NULL}, {"c", "ᶜ", NULL},
    {"d", "ᵈ", NULL}, {"e", "ᵉ", "ₑ"}, {"f", "ᶠ", NULL}, {"g", "ᵍ", NULL}, {"h", "ʰ", "ₕ"},  {"i", "ⁱ", "ᵢ"},
    {"j", "ʲ", "ⱼ"},  {"k", "ᵏ", "ₖ"}, {"l", "ˡ", "ₗ"},  {"m", "ᵐ", "ₘ"},  {"n", "ⁿ", "ₙ"},  {"o", "ᵒ", "ₒ"},
    {"p", "ᵖ", "ₚ"},  {"r", "ʳ", "ᵣ"}, {"s", "ˢ", "ₛ"},  {"t", "ᵗ", "ₜ"},  {"u", "ᵘ", "ᵤ"},  {"v", "ᵛ", "ᵥ"},
    {"w", "ʷ", NULL}, {"x", "ˣ", "ₓ"}, {"y", "ʸ", NULL}, {"z", "ᶻ", NULL}, {"β", "ᵝ", "ᵦ"},  {"ρ", NULL, "ᵨ"},
    {" ", " ", " "},  {",", ",", ","}, {"N", "ᴺ", NULL}, {"T", "ᵀ", NULL},
};

static bool starts_with(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The letter that begins at *at with a backslash; NULL: it is none. */
static const char *greek_at(const char **at) {
    const char *name = *at + 1;
    size_t length = 0;
    while ((name[length] | 32) >= 'a' && (name[length] | 32) <= 'z')
        length++;
    for (size_t i = 0; i < sizeof greek / sizeof *greek; i++)
        if (strlen(greek[i].name) == length && strncmp(greek[i].name, name, length) == 0) {
            *at = name + length;
            return greek[i].letter;
        }
    return NULL;
}

/* The next character of a script, which begins at *at, above or below; NULL: there is none for it. */
static const char *script_at(const char **at, bool above) {
    const char *next = *at, *letter = *next == '\\' ? greek_at(&next) : NULL;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const char *plain = scripts[i].plain;
        if (letter ? strcmp(letter, plain) != 0 : !starts_with(*at, plain))
            continue;
        *at = letter ? next : *at + strlen(plain);
        return above ? scripts[i].above : scripts[i].below;
    }
    return NULL;
}

/* Writes the script behind a _ or ^ at *at: one character, or all in braces. False: it stays as it is. */
static bool write_script(const char **at, const char *end, char **to) {
    const bool above = **at == '^';
    const char *next = *at + 1;
    const bool braces = *next == '{';
    next += braces;
    char *out = *to;
    do {
        const char *script = next < end && *next != '}' ? script_at(&next, above) : NULL;
        if (!script)
            return false;
        out = stpcpy(out, script);
    } while (braces && next < end && *next != '}');
    if (braces && *next++ != '}')
        return false;
    *to = out;
    *at = next;
    return true;
}

/* Writes the formula between two dollar signs. */
static void write_formula(const char *at, const char *end, char **to) {
    while (at < end) {
        const char *letter = *at == '\\' ? greek_at(&at) : NULL;
        if (letter)
            *to = stpcpy(*to, letter);
        else if ((*at != '_' && *at != '^') || !write_script(&at, end, to))
            *(*to)++ = *at++;
    }
}

/* The closing dollar sign of a formula that begins at `at`; NULL: it is none. No blank stands at the inner
 * sides of the signs, and no digit behind the last: "$5 or $6" are sums of money. */
static const char *formula_end(const char *at) {
    if (*at != '$' || at[1] == ' ' || at[1] == '$')
        return NULL;
    const char *end = strchr(at + 1, '$');
    return end && end[-1] != ' ' && !(end[1] >= '0' && end[1] <= '9') ? end : NULL;
}

char *bli_text_formula(const char *text) {
    char *clean = bli_text_clean(text);
    char *result = clean ? malloc(3 * strlen(clean) + 1) : NULL; /* "2" grows to the three bytes of "₂" */
    if (!result) {
        free(clean);
        return NULL;
    }
    char *to = result;
    for (const char *at = clean; *at;) {
        const char *end = formula_end(at);
        if (end) {
            write_formula(at + 1, end, &to);
            at = end + 1;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    free(clean);
    return result;
}
