#ifndef STORE_TEXT_JSON_JSON_DYNAMODB_H
#define STORE_TEXT_JSON_JSON_DYNAMODB_H

#include "store/text/json/json.h"

/*
 * Turns the tree of a line of DynamoDB's export, {"Item": {NAME: {TYPE:
 * VALUE}}}, into that of its item as plain JSON, in place:
 *
 *   S, B   a string; of B its bytes, but in a list or set it stays base64
 *   N      a number, its digits as they are
 *   BOOL   true or false        NULL  null
 *   M      an object            L, SS, NS, BS  an array
 *
 * 0 or -ERR_bad_line, which names the attribute, or -ENOMEM; after an error the
 * tree is of no use.
 */
int json_dynamodb(struct json *j);

#endif
