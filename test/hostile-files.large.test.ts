import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { avroOf } from '../packages/connector/test/avro-writer.ts'
import { duckdbFile } from '../packages/connector/test/duckdb-file.ts'
import { workbookOf, zipOf } from '../packages/connector/test/zip.ts'
import { hostileFiles } from './harness/hostile-files.ts'
import { type Fixture, localFolder, startFixture } from './harness/transfers.ts'

/** A file that no one can read ends its transfer at the first attempt, with words that name it: another attempt finds the same file. */

let fixture: Fixture
before(async () => {
  // Less memory than runners usually have.
  fixture = await startFixture({ PENSTOCK_RUNNER_MEMORY_MB: '512' })
  await fixture.startWorker()
})
after(() => fixture.close())

const header = '<row r="1"><c t="str"><v>a</v></c></row>'
const long = 'x'.repeat(30 << 20)
const sheet = (content: string) =>
  workbookOf({ sheets: { One: '' }, others: [{ name: 'xl/worksheets/sheet1.xml', content }] })
const styles = (content: string) =>
  workbookOf({
    sheets: { One: `${header}<row><c s="0"><v>1</v></c></row>` },
    others: [{ name: 'xl/styles.xml', content: `<styleSheet>${content}</styleSheet>` }],
  })
const shared = (...texts: string[]) => workbookOf({ texts, sheets: { One: '<row><c t="s"><v>0</v></c></row>' } })
const record = { type: 'record', name: 'a', fields: [{ name: 'a', type: 'string' }] }

const workbooks: Readonly<Record<string, () => Buffer>> = {
  'an-attribute.xlsx': () => sheet(`<worksheet a="${long}"/>`),
  'an-attribute-of-a-row.xlsx': () => workbookOf({ sheets: { One: `${header}<row r="2" a="${long}"/>` } }),
  'a-shared-text.xlsx': () => shared(`<si><t>${long}</t></si>`),
  'an-attribute-of-a-shared-text.xlsx': () => shared(`<si a="${long}"><t>a</t></si>`),
  'styles.xlsx': () => styles(`<cellXfs>${'<xf/>'.repeat(300_000)}</cellXfs>`),
  'a-format.xlsx': () => styles(`<numFmts><numFmt numFmtId="200" formatCode="${long}"/></numFmts>`),
  'zip-bomb.xlsx': () => sheet(`<worksheet>${' '.repeat(300 << 20)}</worksheet>`),
  'parts.xlsx': () => zipOf(Array.from({ length: 30_000 }, (_, at) => ({ name: `${at}`, content: '' }))),
  'deep.xlsx': () => sheet('<a>'.repeat(1_000_000)),
  'external-entity.xlsx': () =>
    sheet('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><worksheet>&e;</worksheet>'),
  'entities.xlsx': () => sheet('<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><worksheet>&b;</worksheet>'),
  'a-claim.xlsx': () =>
    workbookOf({ sheets: { One: header }, others: [{ name: 'xl/styles.xml', content: long, claimed: 10 }] }),
}

const texts: Readonly<Record<string, () => Buffer>> = {
  'a-line.csv': () => Buffer.from(`id,email\n${'x'.repeat(100 << 20)}`),
  'a-header.csv': () => Buffer.alloc(100 << 20, 'x'),
  'an-open-quote.csv': () => Buffer.from(`id,email\n1,"${'a,b\n'.repeat(25 << 20)}`),
  'columns.csv': () => Buffer.from(`${'a,'.repeat(1 << 20)}\n1\n`),
  'a-document.json': () => Buffer.from(`[{"a":"${'x'.repeat(200 << 20)}"}]`),
  'deep.json': () => Buffer.from(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`),
  'deep-objects.json': () => Buffer.from(`[${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}]`),
  'a-line.ndjson': () => Buffer.from(`{"a":"${'x'.repeat(100 << 20)}"}\n`),
  'keys.ndjson': () => Buffer.from(`{${Array.from({ length: 400_000 }, (_, at) => `"k${at}":1`).join(',')}}\n`),
}

const compressed: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
  'bomb.csv.gz': () => gzipSync(Buffer.from(`id,email\n${'\n'.repeat(200 << 20)}`)),
  'bomb.csv.zst': () => zstdCompressSync(Buffer.from(`id,email\n${'\n'.repeat(200 << 20)}`)),
  'cut.csv.bz2': () => Buffer.from('BZh91AY&SYaaaaaaaaaaaaaaaaaaaaaaaa'),
  'block.avro': () => avroOf(record, [[1, zstdCompressSync(Buffer.alloc(200 << 20))]], 'zstandard'),
  'nulls.avro': () => avroOf({ ...record, fields: [{ name: 'a', type: 'null' }] }, [[2 ** 40, Buffer.alloc(0)]]),
  'a-schema.avro': () => avroOf(`"${'x'.repeat(30 << 20)}"`, []),
  'deep-schema.avro': () => avroOf('{"type":"array","items":'.repeat(50_000), []),
  'cut.duckdb': async () =>
    (await duckdbFile('create table a as select range as id from range(1000)')).subarray(0, 9_000),
  'zeros.duckdb': async () =>
    Buffer.concat([(await duckdbFile('create table a (id int)')).subarray(0, 4_096), Buffer.alloc(8 << 20)]),
}

/** The others have only values that are null, and can be read, or take long. */
const claims = /^parquet-(?:more|negative|a-(?!dictionary)|an-(?!unknown))|^spoilt-(?:7|14|21)\./
const parquets = Object.fromEntries(
  hostileFiles.filter(({ fileName }) => claims.test(fileName)).map(({ fileName, bytes }) => [fileName, bytes]),
)

/** Rows that exceed a limit are rejected instead, and then no row is accepted. */
const codes = ['invalid_file', 'file_too_large', 'row_too_large', 'too_many_columns', 'nothing_accepted']

const transferOf = async (fileName: string) => {
  const id = await fixture.connect(localFolder, { files: fileName }, localFolder, { subfolder: 'out' })
  return fixture.ended(id, (await fixture.start(id)).id)
}

for (const [format, files] of Object.entries({ workbooks, texts, compressed, parquets })) {
  describe(`hostile files: ${format}`, () => {
    for (const [fileName, make] of Object.entries(files)) {
      test(fileName, async () => {
        await writeFile(join(fixture.folder, fileName), await make())
        const { status, error, attempt } = await transferOf(fileName)
        await rm(join(fixture.folder, fileName))
        assert.deepEqual([status, attempt, error && codes.includes(error.code)], ['failed', 1, true], error?.message)
        if (error?.code !== 'nothing_accepted') assert(error?.message.includes(fileName), error?.message)
      })
    }
  })
}
