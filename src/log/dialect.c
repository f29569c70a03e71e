/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses log format definitions as written in the configuration of nginx, Apache, squid and Envoy. */
#include "log/dialect.h"

#include <ctype.h>
#include <stdlib.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* After the $: name or {name}. */
static const char *read_variable(const char *at, struct bli_log_span *name) {
    const bool braces = *at == '{';
    at += braces;
    name->text = at;
    while (is_word(*at))
        at++;
    name->length = (size_t)(at - name->text);
    if (name->length == 0 || (braces && *at != '}'))
        return NULL;
    return at + braces;
}

/* Of the formats that are known: a name may have a second part, as in client:port. */
static const char *read_field(const char *at, struct bli_log_span *name) {
    name->text = at;
    while (is_word(*at) || (*at == ':' && is_word(at[1])))
        at++;
    name->length = (size_t)(at - name->text);
    return name->length > 0 ? at : NULL;
}

/* Behind the %: modifiers, {argument}, a letter. The % is part of the name. */
static const char *read_directive(const char *at, struct bli_log_span *name) {
    name->text = at - 1;
    at += strspn(at, "<>!,0123456789");
    if (*at == '{') {
        at = strchr(at, '}');
        if (!at)
            return NULL;
        at++;
    }
    if (*at == '^' && at[1]) /* %^FB and its like have three letters */
        at += 2;
    if (!is_word(*at))
        return NULL;
    name->length = (size_t)(at + 1 - name->text);
    return at + 1;
}

/* Behind the %: how to quote, a width, {argument}, a code of one to four letters. The name is the code alone;
 * seconds and their thousandths, as one number, are one field. */
static const char *read_squid(const char *at, struct bli_log_span *name) {
    static const char seconds[] = "ts.%03tu";
    if (strncmp(at, seconds, sizeof seconds - 1) == 0) {
        *name = (struct bli_log_span){"ts.tu", 5};
        return at + sizeof seconds - 1;
    }
    at += strspn(at, "\"'[#/");
    at += strspn(at, "-.0123456789");
    if (*at == '{' && !(at = strchr(at, '}')))
        return NULL;
    at += *at == '}';
    name->text = at;
    at += *at == '<' || *at == '>';
    const char *letters = at;
    while (isalpha((unsigned char)*at) && at - letters < 4)
        at++;
    name->length = (size_t)(at - name->text);
    if (at == letters)
        return NULL;
    if (*at == '{' && !(at = strchr(at, '}')))
        return NULL;
    return at + (*at == '}');
}

/* Behind the %: NAME%, NAME(argument)%, NAME(argument):length%. */
static const char *read_operator(const char *at, struct bli_log_span *name) {
    name->text = at;
    while (isupper((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_')
        at++;
    if (at > name->text && *at == '(' && !(at = strchr(at, ')')))
        return NULL;
    at += *at == ')';
    name->length = (size_t)(at - name->text);
    if (*at == ':')
        at += 1 + strspn(at + 1, "0123456789");
    return name->length > 0 && *at == '%' ? at + 1 : NULL;
}

static const struct bli_log_dialect dialects[] = {
    {"nginx", &bli_log_names_nginx, '$', read_variable},
    {"apache", &bli_log_names_apache, '%', read_directive},
    {"varnish", &bli_log_names_varnish, '%', read_directive},
    {"lighttpd", &bli_log_names_lighttpd, '%', read_directive},
    {"tomcat", &bli_log_names_tomcat, '%', read_directive},
    {"squid", &bli_log_names_squid, '%', read_squid},
    {"envoy", &bli_log_names_envoy, '%', read_operator},
    {"directives", &bli_log_names_percent, '%', read_directive}, /* of Apache or one of those that follow it
                                                                  */
    {"columns", &bli_log_names_columns, '$', read_field},
    {"alb", &bli_log_names_alb, '$', read_field},
    {"elb", &bli_log_names_elb, '$', read_field},
    {"traefik", &bli_log_names_traefik, '$', read_field},
};

const struct bli_log_dialect *bli_log_dialect_named(const char *name) {
    size_t i = 0;
    while (strcmp(dialects[i].name, name) != 0)
        i++;
    return &dialects[i];
}

static const char *skip_blanks(const char *at) {
    while (*at && isspace((unsigned char)*at))
        at++;
    return at;
}

/* What follows a word, NULL when the text does not begin with it. */
static const char *skip_prefix(const char *text, const char *word) {
    const size_t length = strlen(word);
    if (strncmp(text, word, length) != 0)
        return NULL;
    return is_word(word[length - 1]) && is_word(text[length]) ? NULL : text + length;
}

/* A text in quotes, from behind the first to the other; returns behind that. Escapes stay as they are. */
static const char *copy_quoted(const char *at, char quote, char **to) {
    for (; *at && *at != quote; at++) {
        if (*at == '\\' && at[1])
            *(*to)++ = *at++;
        *(*to)++ = *at;
    }
    return at + (*at == quote);
}

/* All texts in quotes up to the end or a semicolon, joined: log_format name 'text' 'text'; */
static void join_quoted(const char *at, char *to) {
    while (*at && *at != ';') {
        if (*at == '\'' || *at == '"')
            at = copy_quoted(at + 1, *at, &to);
        else
            at++;
    }
    *to = 0;
}

/* The first text in quotes: LogFormat "text" nickname. Without quotes, the first word. */
static void copy_quoted_text(const char *at, char *to) {
    at = skip_blanks(at);
    if (*at == '"' || *at == '\'') {
        copy_quoted(at + 1, *at, &to);
    } else {
        while (*at && !isspace((unsigned char)*at))
            *to++ = *at++;
    }
    *to = 0;
}

/* The second word and all behind it: logformat name text */
static void copy_after_name(const char *at, char *to) {
    at = skip_blanks(at);
    while (*at && !isspace((unsigned char)*at))
        at++;
    strcpy(to, skip_blanks(at));
}

/* pattern="text" inside of an element of XML. */
static void strip_attribute(const char *at, char *to) {
    static const struct {
        const char *entity;
        char c;
    } entities[] = {{"&quot;", '"'}, {"&apos;", '\''}, {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}};
    const char quote = *at == '\'' ? '\'' : '"';
    at += *at == quote;
    while (*at && *at != quote) {
        size_t i = 0;
        while (i < sizeof entities / sizeof *entities && !skip_prefix(at, entities[i].entity))
            i++;
        const bool found = i < sizeof entities / sizeof *entities;
        *to++ = found ? entities[i].c : *at;
        at += found ? strlen(entities[i].entity) : 1;
    }
    *to = 0;
}

/* Takes a whole directive apart; the name of its language, NULL when it is none. */
static const char *strip_directive(const char *given, char *to) {
    const char *at;
    if ((at = skip_prefix(given, "log_format"))) {
        join_quoted(at, to);
        return "nginx";
    }
    if ((at = skip_prefix(given, "LogFormat"))) {
        copy_quoted_text(at, to);
        return "apache";
    }
    if ((at = skip_prefix(given, "accesslog.format"))) {
        at = skip_blanks(at);
        copy_quoted_text(at + (*at == '='), to);
        return "lighttpd";
    }
    if ((at = skip_prefix(given, "logformat"))) {
        copy_after_name(at, to);
        return "squid";
    }
    if ((at = skip_prefix(given, "varnishncsa"))) {
        const char *option = strstr(at, "-F");
        copy_quoted_text(option ? option + 2 : at, to);
        return "varnish";
    }
    if ((at = strstr(given, "pattern=")) && (at == given || skip_prefix(given, "<Valve"))) {
        strip_attribute(at + strlen("pattern="), to);
        return "tomcat";
    }
    return NULL;
}

/* "apache:text" */
static const char *strip_prefix(const char *given, char *to) {
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        const size_t length = strlen(dialects[i].name);
        if (strncmp(given, dialects[i].name, length) == 0 && given[length] == ':') {
            strcpy(to, given + length + 1);
            return dialects[i].name;
        }
    }
    return NULL;
}

static bool has_variable(const char *text) {
    for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$'))
        if (is_word(at[1]) || at[1] == '{')
            return true;
    return false;
}

static bool has_operator(const char *text) {
    struct bli_log_span name;
    for (const char *at = strchr(text, '%'); at; at = strchr(at + 1, '%'))
        if (isupper((unsigned char)at[1]) && isupper((unsigned char)at[2]) && read_operator(at + 1, &name))
            return true;
    return false;
}

/* Codes of squid that no other language has. */
static bool has_code(const char *text) {
    for (const char *at = strchr(text, '%'); at; at = strchr(at + 1, '%')) {
        const char *code = at + 1 + strspn(at + 1, "-0123456789");
        if (strncmp(code, "ts", 2) == 0 || strncmp(code, "tr", 2) == 0 || strncmp(code, ">a", 2) == 0)
            return true;
    }
    return false;
}

/* The language of a text without any hint. %>s is written by Apache and lighttpd, for both of which %D is the
 * same. */
static const char *guess_dialect(const char *text) {
    if (has_variable(text))
        return "nginx";
    if (has_operator(text))
        return "envoy";
    if (has_code(text))
        return "squid";
    return strstr(text, "%>s") ? "apache" : "directives";
}

/* In Envoy's configuration the newline is part of the format. */
static void drop_newline(char *text) {
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    if (length > 1 && text[length - 1] == 'n' && text[length - 2] == '\\')
        length -= 2;
    text[length] = 0;
}

const struct bli_log_dialect *bli_log_dialect_of(const char *given, char **text) {
    given = skip_blanks(given);
    *text = malloc(strlen(given) + 1);
    if (!*text)
        return NULL;
    const char *name = strip_directive(given, *text);
    if (!name)
        name = strip_prefix(given, *text);
    if (!name) {
        strcpy(*text, given);
        name = guess_dialect(given);
    }
    drop_newline(*text);
    return bli_log_dialect_named(name);
}
