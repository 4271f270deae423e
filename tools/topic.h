#ifndef TOOLS_TOPIC_H
#define TOOLS_TOPIC_H

/*
 * Topics: the pages of tools/doc, which are part of the program, so that help
 * shows them wherever it was copied to. A page NAME.md is the topic NAME.
 */
struct topic {
	const char *name;
	const char *summary; /* for the list of help */
	const char *text;    /* Markdown, as the file has it */
};

/* In the order of reading; ended by one without a name. */
extern const struct topic topics[];

/* NULL if there is none of this name. */
const struct topic *topic_find(const char *name);

#endif
