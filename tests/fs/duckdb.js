// What the duckdb of a shell is to the tests: duckdb.js -csv -c SQL, of the npm
// package @duckdb/node-api, which NODE_PATH leads to.
"use strict";

const { DuckDBInstance } = require("@duckdb/node-api");

function quoted(value) {
  if (value === null) return "";
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function main(sql) {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const result = await connection.runAndReadAll(sql);
  const rows = [result.columnNames(), ...result.getRows()];
  console.log(rows.map((row) => row.map(quoted).join(",")).join("\n"));
}

main(process.argv[4]).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
