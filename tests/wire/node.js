// Google's client for Node beside a server: tables and families, writes, reads
// and filters, instances and errors. Prints "passed TEXT" or "FAILED TEXT: WHY"
// for each check. The server is that of BIGTABLE_EMULATOR_HOST, and empty.
"use strict";

const assert = require("assert");
const { Bigtable, v2 } = require("@google-cloud/bigtable");
const { grpc } = require("google-gax");

const [host, port] = process.env.BIGTABLE_EMULATOR_HOST.split(":");
const bigtable = new Bigtable({ projectId: "p", metricsEnabled: false });
const instance = bigtable.instance("i");
const table = instance.table("t");
let failed = false;

async function check(text, run) {
  try {
    await run();
    console.log(`passed ${text}`);
  } catch (error) {
    failed = true;
    const why = String(error.message).split("\n").join(" | ");
    console.log(`FAILED ${text}: ${why}`);
  }
}

// That it fails, with this code of gRPC.
function refuse(text, code, run) {
  return check(text, async () => {
    await assert.rejects(run, (error) => {
      assert.strictEqual(error.code, code, `${error.code} ${error.message}`);
      return true;
    });
  });
}

// Rows in short: "key family:qualifier@time=value ...".
function shown(rows) {
  return rows.map((row) => {
    const cells = [];
    for (const [family, columns] of Object.entries(row.data))
      for (const [qualifier, versions] of Object.entries(columns))
        for (const v of versions) {
          const labels = v.labels && v.labels.length ? `[${v.labels}]` : "";
          cells.push(
            `${family}:${qualifier}@${v.timestamp}=${v.value}${labels}`);
        }
    return [row.id, ...cells].join(" ");
  });
}

function reads(text, wanted, options) {
  return check(text, async () => {
    const [rows] = await table.getRows(options);
    assert.deepStrictEqual(shown(rows), wanted);
  });
}

function cell(value, timestamp) {
  return { value, timestamp };
}

async function tables() {
  await check("a table is made", () =>
    table.create({ families: ["f", { name: "g", rule: { versions: 2 } }],
                   splits: [Buffer.from("b"), Buffer.from("m")] }));
  await refuse("but once", 6, () => table.create({ families: ["f"] }));
  await refuse("not by any name", 3, () => instance.table("a b").create());
  await check("it is there", async () =>
    assert.deepStrictEqual(await table.exists(), [true]));
  await check("another is not", async () =>
    assert.deepStrictEqual(await instance.table("no").exists(), [false]));
  await refuse("nor got", 5, () => instance.table("no").get());
  await check("tables are listed", async () => {
    const [list] = await instance.getTables();
    assert.deepStrictEqual(list.map((t) => t.id), ["t"]);
  });
  await check("a table is told by its name", async () => {
    const [metadata] = await table.getMetadata();
    assert.strictEqual(metadata.name, "projects/p/instances/i/tables/t");
    assert.strictEqual(metadata.granularity, "MILLIS");
  });
  await check("its families are listed", async () => {
    const [families] = await table.getFamilies();
    assert.deepStrictEqual(families.map((f) => f.id).sort(), ["f", "g"]);
  });
  await check("its splits are kept", async () => {
    const [samples] = await table.sampleRowKeys();
    assert.deepStrictEqual(
      samples.map((s) => String(s.key)), ["b", "m", ""]);
  });
}

async function families() {
  const h = table.family("h");
  const rule = { union: true, versions: 10,
                 rule: { versions: 2, age: { seconds: 3600 } } };
  await check("a family is made", () => h.create({ rule }));
  await refuse("but once", 6, () => h.create());
  await refuse("not of a table that is not", 5, () =>
    instance.table("no").family("h").create());
  await check("its rule is told", async () => {
    const [metadata] = await h.getMetadata();
    const [versions, both] = metadata.gcRule.union.rules;
    assert.strictEqual(versions.maxNumVersions, 10);
    assert.strictEqual(both.intersection.rules.length, 2);
  });
  await check("another rule is set", () =>
    h.setMetadata({ rule: { versions: 1 } }));
  await check("and is told", async () => {
    const [metadata] = await h.getMetadata();
    assert.strictEqual(metadata.gcRule.maxNumVersions, 1);
  });
  await refuse("no rule of no versions", 3, () =>
    h.setMetadata({ rule: { versions: -1 } }));
  await check("a family goes", () => h.delete());
  await check("and is not there", async () =>
    assert.deepStrictEqual(await h.exists(), [false]));
  await refuse("nor goes again", 5, () => h.delete());
  const name = "projects/p/instances/i/tables/t";
  const sum = { aggregateType: {
    inputType: { int64Type: { encoding: { bigEndianBytes: {} } } },
    sum: {} } };
  const admin = tableAdmin();
  await check("a family of sums", async () => {
    const [told] = await admin.modifyColumnFamilies({ name, modifications: [
      { id: "s", create: { valueType: sum } }] });
    assert.ok(told.columnFamilies.s.valueType.aggregateType.sum);
  });
  await refuse("several changes are made together", 6, () =>
    admin.modifyColumnFamilies({ name, modifications: [
      { id: "x", create: {} }, { id: "f", create: {} }] }));
  await check("or none", async () =>
    assert.deepStrictEqual(await table.family("x").exists(), [false]));
  await refuse("of no name", 3, () =>
    table.family("a:b").create());
}

// Clients without the comfort, for requests as they are.
function plain(Client) {
  return new Client({ projectId: "p", servicePath: host, port: Number(port),
                      sslCreds: grpc.credentials.createInsecure() });
}
let admin_;
function tableAdmin() {
  admin_ = admin_ || plain(v2.BigtableTableAdminClient);
  return admin_;
}

async function writes() {
  await check("rows are inserted", () => table.insert([
    { key: "a1", data: { f: { q: cell("one", 1000), r: cell("two", 2000) } } },
    { key: "a2", data: { f: { q: cell("three", 3000) },
                         g: { q: cell("four", 4000) } } },
    { key: "b1", data: { g: { q: cell("five", 5000), z: cell("", 6000) } } },
  ]));
  await reads("and are read", [
    "a1 f:q@1000=one f:r@2000=two",
    "a2 f:q@3000=three g:q@4000=four",
    "b1 g:q@5000=five g:z@6000=",
  ]);
  await check("one with its own error", async () => {
    await assert.rejects(() => table.insert([
      { key: "c1", data: { f: { q: cell("six", 7000) } } },
      { key: "c2", data: { no: { q: cell("seven", 7000) } } },
    ]), (error) => {
      assert.strictEqual(error.errors.length, 1);
      assert.strictEqual(error.errors[0].code, 5);
      assert.strictEqual(error.errors[0].entry.key, "c2");
      return true;
    });
    const [rows] = await table.getRows({ prefix: "c" });
    assert.deepStrictEqual(shown(rows), ["c1 f:q@7000=six"]);
  });
  const row = table.row("d");
  await check("a row is saved", () => row.save({ f: { q: cell("x", 1000) } }));
  await check("with a time of the server", async () => {
    await row.save({ f: { now: "now" } });
    const [cells] = await row.get(["f:now"]);
    const time = Number(cells["f"]["now"][0].timestamp);
    assert.ok(Math.abs(time / 1000 - Date.now()) < 600000, `${time}`);
    assert.strictEqual(time % 1000, 0);
  });
  await check("a number", async () => {
    await row.save({ f: { n: cell(258, 1000) } });
    const [cells] = await row.get(["f:n"]);
    assert.strictEqual(cells.f.n[0].value, 258);
  });
  await check("any bytes, keys too", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const key = Buffer.from([0x64, 0xff, 0, 0x0a]);
    await table.insert({ key, data: { f: { q: cell(bytes, 1000) } } });
    const [rows] = await table.getRows({ keys: [key], decode: false });
    assert.ok(key.equals(rows[0].id));
    assert.ok(bytes.equals(rows[0].data.f.q[0].value));
    await table.deleteRows(key);
  });
  await check("cells are deleted", async () => {
    await row.deleteCells(["f:q"]);
    const [cells] = await row.get(["f:n"]);
    assert.ok(cells.f.n);
    await assert.rejects(() => row.get(["f:q"]), /Unknown row/);
  });
  await check("a row is deleted", async () => {
    await row.delete();
    assert.deepStrictEqual(await row.exists(), [false]);
  });
  await refuse("a table that is not", 5, () =>
    instance.table("no").insert({ key: "a", data: { f: { q: "1" } } }));
  await check("c1 goes", () => table.deleteRows("c"));
}

async function aggregates() {
  const data = plain(v2.BigtableClient);
  const tableName = "projects/p/instances/i/tables/t";
  const add = (n) => data.mutateRow({ tableName, rowKey: Buffer.from("s1"),
    mutations: [{ addToCell: { familyName: "s",
      columnQualifier: { rawValue: Buffer.from("n") },
      timestamp: { rawTimestampMicros: 1000 }, input: { intValue: n } } }] });
  await check("numbers are added", async () => {
    await add(40);
    await add(2);
    const [rows] = await table.getRows({ keys: ["s1"] });
    assert.strictEqual(rows[0].data.s.n[0].value, 42);
  });
  await refuse("a family of sums is not set", 3, () =>
    data.mutateRow({ tableName, rowKey: Buffer.from("s1"), mutations: [
      { setCell: { familyName: "s", timestampMicros: 1000 } }] }));
  await check("the connection is warmed", () =>
    data.pingAndWarm({ name: "projects/p/instances/i" }));
  await refuse("an empty request", 3, () => data.mutateRow({ tableName,
    rowKey: Buffer.from("s1") }));
  await refuse("a name that is none", 3, () => data.mutateRow({
    tableName: "t", rowKey: Buffer.from("s1"),
    mutations: [{ deleteFromRow: {} }] }));
  await check("the row of sums goes", () => table.row("s1").delete());
  await data.close();
}

async function ranges() {
  const a1 = "a1 f:q@1000=one f:r@2000=two";
  const a2 = "a2 f:q@3000=three g:q@4000=four";
  const b1 = "b1 g:q@5000=five g:z@6000=";
  await reads("keys", [a1, b1], { keys: ["b1", "a1", "no"] });
  await reads("a prefix", [a1, a2], { prefix: "a" });
  await reads("prefixes", [a1, a2, b1], { prefixes: ["b", "a"] });
  await reads("from", [a2, b1], { start: "a2" });
  await reads("to", [a1, a2], { end: "a2" });
  await reads("open ranges", [a2], {
    ranges: [{ start: { value: "a1", inclusive: false },
               end: { value: "b1", inclusive: false } }] });
  await reads("ranges that overlap", [a1, a2], {
    ranges: [{ start: "a1", end: "a2" }, { start: "a1", end: "a1" }] });
  await reads("a limit", [a1], { limit: 1 });
  await check("backwards", async () => {
    const data = plain(v2.BigtableClient);
    const keys = await new Promise((resolve, reject) => {
      const found = [];
      data.readRows({ tableName: "projects/p/instances/i/tables/t",
                      reversed: true, rowsLimit: 2 })
        .on("data", (answer) => {
          for (const c of answer.chunks)
            if (c.rowKey.length) found.push(String(c.rowKey));
        }).on("error", reject).on("end", () => resolve(found));
    });
    assert.deepStrictEqual(keys, ["b1", "a2"]);
    await data.close();
  });
  await refuse("a range of nothing", 3, () =>
    table.getRows({ ranges: [{ start: "b", end: "a" }] }));
  await refuse("of a table that is not", 5, () =>
    instance.table("no").getRows());
}

async function filters() {
  const f = (text, wanted, filter) => reads(text, wanted, { filter });
  const a1q = "a1 f:q@1000=one", a2q = "a2 f:q@3000=three";
  await f("by key", ["a1 f:q@1000=one f:r@2000=two"], { row: "a1" });
  await f("by a pattern of keys",
    ["a2 f:q@3000=three g:q@4000=four"], [{ row: /^.2$/ }]);
  await f("by family", [a1q + " f:r@2000=two", a2q], { family: "f" });
  await f("by column", ["a1 f:r@2000=two"], { column: "r" });
  await f("by columns of a family", ["a1 f:r@2000=two"], { column: {
    family: "f", start: { value: "q", inclusive: false }, end: "z" } });
  await f("by value", [a2q], { value: "three" });
  await f("by values", ["a2 g:q@4000=four", "b1 g:q@5000=five"], { value: {
    start: "fa", end: { value: "g", inclusive: false } } });
  await f("by time", ["a1 f:r@2000=two", a2q], { time: {
    start: new Date(2), end: new Date(4) } });
  await f("the first of a row", [a1q, a2q, "b1 g:q@5000=five"],
    { row: { cellLimit: 1 } });
  await f("all but the first", ["a1 f:r@2000=two", "a2 g:q@4000=four",
    "b1 g:z@6000="], { row: { cellOffset: 1 } });
  await f("one a column", [a1q + " f:r@2000=two"],
    [{ row: "a1" }, { column: { cellLimit: 1 } }]);
  await f("without values", ["b1 g:q@5000= g:z@6000="],
    [{ row: "b1" }, { value: { strip: true } }]);
  await f("with a label", ["a1 f:q@1000=one[here] f:r@2000=two[here]"],
    [{ row: "a1" }, { label: "here" }]);
  await f("all of a row", [a1q + " f:r@2000=two"],
    [{ row: "a1" }, { all: true }]);
  await f("none", [], { all: false });
  await f("one or another", ["a1 f:r@2000=two", a2q], { interleave: [
    [{ value: "two" }], [{ value: "three" }]] });
  await f("by a condition", [a1q, "a2 g:q@4000=four", "b1 g:q@5000=five"],
    { condition: { test: [{ column: "r" }], pass: [{ value: "one" }],
                   fail: [{ family: "g" }, { column: "q" }] } });
  await check("past what follows, by the sink", async () => {
    const [rows] = await table.getRows({ filter: [
      { row: "a1" }, { column: "q" },
      { interleave: [[{ label: "l" }, { sink: true }], [{ all: true }]] },
      { value: { strip: true } }] });
    assert.deepStrictEqual(rows[0].data.f.q.map((c) => c.value).sort(),
      ["", "one"]);
  });
  await refuse("by a pattern that is none", 3, () =>
    table.getRows({ filter: [{ value: "(" }] }));
  await refuse("by a label that is none", 3, () =>
    table.getRows({ filter: [{ label: "No" }] }));
}

async function updates() {
  const row = table.row("u");
  await check("a number counts up", async () => {
    await row.increment("f:count", 40);
    const [value] = await row.increment("f:count", 2);
    assert.strictEqual(value, 42);
  });
  await check("rules in order", async () => {
    const [told] = await row.createRules([
      { column: "f:text", append: "ab" }, { column: "f:text", append: "c" },
      { column: "f:count", increment: -2 }]);
    const columns = told.row.families[0].columns;
    const values = columns.map((c) => [String(c.qualifier),
      Buffer.from(c.cells[0].value, "base64").length]);
    assert.deepStrictEqual(values.sort(), [["count", 8], ["text", 3]]);
  });
  await refuse("text is not counted up", 9, () => row.increment("f:text", 1));
  await refuse("no family", 5, () => row.increment("no:text", 1));
  await check("a check that holds", async () => {
    const [matched] = await row.filter([{ column: "text" }, { value: "abc" }],
      { onMatch: [{ method: "insert", data: { f: { hit: cell("y", 1000) } } }],
        onNoMatch: [{ method: "delete" }] });
    assert.strictEqual(matched, true);
    assert.deepStrictEqual(shown(await table.getRows(
      { keys: ["u"], filter: { column: "hit" } }).then(([r]) => r)),
      ["u f:hit@1000=y"]);
  });
  await check("one that does not", async () => {
    const [matched] = await row.filter([{ value: "no such" }],
      { onNoMatch: [{ method: "delete" }] });
    assert.strictEqual(matched, false);
    assert.deepStrictEqual(await row.exists(), [false]);
  });
  await refuse("a check with nothing to do", 3, () =>
    row.filter([{ all: true }], {}));
}

async function streams() {
  const count = 5000;
  await check("many rows are written", async () => {
    for (let at = 0; at < count; at += 1000)
      await table.insert(Array.from({ length: 1000 }, (_, i) => ({
        key: `s${String(at + i).padStart(6, "0")}`,
        data: { f: { q: cell("x".repeat(200), 1000) } } })));
  });
  await check("and come in order", async () => {
    let n = 0, last = "";
    for await (const row of table.createReadStream({ prefix: "s" })) {
      assert.ok(row.id > last);
      last = row.id;
      n++;
    }
    assert.strictEqual(n, count);
  });
  await check("a stream is given up", () => new Promise((resolve, reject) => {
    const stream = table.createReadStream({ prefix: "s" });
    let n = 0;
    stream.on("error", reject).on("data", () => {
      if (++n === 10) stream.end();
    }).on("end", resolve);
  }));
  await check("reads at once", async () => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) =>
      table.getRows({ prefix: `s00${String(i).padStart(2, "0")}` })));
    assert.strictEqual(all.reduce((n, [rows]) => n + rows.length, 0), count);
  });
  await check("a prefix is deleted", async () => {
    await table.deleteRows("s0");
    const [rows] = await table.getRows({ prefix: "s" });
    assert.strictEqual(rows.length, 0);
  });
  await check("a large value", async () => {
    const value = Buffer.alloc(20 << 20, 7);
    await table.insert({ key: "large", data: { f: { q: cell(value, 1000) } } });
    const [rows] = await table.getRows({ keys: ["large"], decode: false });
    assert.ok(value.equals(rows[0].data.f.q[0].value));
  });
  await check("all is deleted", async () => {
    await table.truncate();
    const [rows] = await table.getRows();
    assert.strictEqual(rows.length, 0);
  });
}

async function instances() {
  const own = bigtable.instance("own");
  await check("an instance is made", async () => {
    const [, operation] = await own.create({ displayName: "Own",
      labels: { who: "me" },
      clusters: [{ id: "near", location: "here", nodes: 3 }] });
    await operation.promise();
  });
  await refuse("but once", 6, () => own.create({ clusters: [
    { id: "near", location: "here", nodes: 3 }] }));
  await check("it is listed", async () => {
    const [list] = await bigtable.getInstances();
    assert.ok(list.some((i) => i.id === "own"));
  });
  await check("with its labels", async () => {
    const [metadata] = await own.getMetadata();
    assert.deepStrictEqual(metadata.labels, { who: "me" });
  });
  await check("has other words", async () => {
    const [operation] = await own.setMetadata({ displayName: "Later" });
    await operation.promise();
    const [metadata] = await own.getMetadata();
    assert.strictEqual(metadata.displayName, "Later");
    assert.deepStrictEqual(metadata.labels, { who: "me" });
  });
  await check("tables of its own", async () => {
    await own.table("t").create({ families: ["f"] });
    await own.table("t").insert(
      { key: "k", data: { f: { q: cell("own", 1000) } } });
    assert.deepStrictEqual(await table.row("k").exists(), [false]);
    const [list] = await own.getTables();
    assert.deepStrictEqual(list.map((t) => t.id), ["t"]);
  });
  await check("the states of its clusters", async () => {
    const [states] = await own.table("t").getReplicationStates();
    assert.deepStrictEqual([...states.keys()], ["near"]);
  });
  await check("another cluster", async () => {
    const [, operation] = await own.cluster("far").create(
      { location: "there", nodes: 1 });
    await operation.promise();
    const [list] = await own.getClusters();
    assert.deepStrictEqual(list.map((c) => c.id).sort(), ["far", "near"]);
  });
  await check("an app profile", async () => {
    const profile = own.appProfile("batch");
    await profile.create({ routing: "any", ignoreWarnings: true });
    const [operation] = await profile.setMetadata({ description: "slow" });
    await operation.promise();
    const [metadata] = await profile.getMetadata();
    assert.strictEqual(metadata.description, "slow");
    await profile.delete({ ignoreWarnings: true });
    assert.deepStrictEqual(await profile.exists(), [false]);
  });
  await check("may do all", async () => {
    const [granted] = await own.testIamPermissions(["bigtable.tables.get"]);
    assert.deepStrictEqual(granted, ["bigtable.tables.get"]);
    const [policy] = await own.getIamPolicy();
    assert.deepStrictEqual(policy.bindings, []);
  });
  await check("a consistent table", async () => {
    const [token] = await table.generateConsistencyToken();
    assert.deepStrictEqual(await table.checkConsistency(token), [true]);
  });
  await refuse("by a token that is none", 3, () =>
    table.checkConsistency("none"));
  await check("a protected table", async () => {
    const name = "projects/p/instances/own/tables/t";
    const [operation] = await tableAdmin().updateTable({
      table: { name, deletionProtection: true },
      updateMask: { paths: ["deletion_protection"] } });
    await operation.promise();
  });
  await refuse("stays", 9, () => own.table("t").delete());
  await refuse("with its instance", 9, () => own.delete());
  await check("until it is none", async () => {
    const name = "projects/p/instances/own/tables/t";
    const [operation] = await tableAdmin().updateTable({
      table: { name, deletionProtection: false },
      updateMask: { paths: ["deletion_protection"] } });
    await operation.promise();
    await own.delete();
    assert.deepStrictEqual(await own.exists(), [false]);
  });
  await refuse("what there is not", 12, () => tableAdmin().listBackups({
    parent: "projects/p/instances/i/clusters/cluster" }).then(() => {}));
  await check("a table goes", () => table.delete());
  await refuse("for good", 5, () => table.getRows());
}

async function main() {
  for (const part of [tables, families, writes, aggregates, ranges, filters,
                      updates, streams, instances])
    await part();
  process.exit(0);
}
main();
