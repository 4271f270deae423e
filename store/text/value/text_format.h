#ifndef STORE_TEXT_VALUE_TEXT_FORMAT_H
#define STORE_TEXT_VALUE_TEXT_FORMAT_H

/* The layouts that printers write and importers read; print.h and import.h say
 * what each looks like. */
enum text_format {
	TEXT_CSV,
	TEXT_TSV,
	TEXT_JSONL,
	TEXT_CBT, /* as cbt read prints: for people, never read back */
};

#endif
