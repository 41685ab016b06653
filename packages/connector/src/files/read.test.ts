import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from '../../../../test/harness/property.ts'
import { testContext } from '../acceptance/index.ts'
import type { ErrorAction } from '../connector-error.ts'
import { ConnectorError } from '../connector-error.ts'
import type { Row } from '../rows.ts'
import { encodeCsv } from './csv-write.ts'
import { type MemoryStore, memoryStore, readAll } from './memory-store.ts'
import { encodeNdjson } from './ndjson-write.ts'
import { type ReadOptions, readFiles } from './read.ts'

type Options = Omit<ReadOptions, 'format'> & { format?: ReadOptions['format'] }
const open = (store: MemoryStore, options: Options = {}) =>
  readFiles(testContext(), store, { format: 'auto', ...options })

async function rowsOf(files: Record<string, Buffer | string>, options: Options = {}) {
  const store = memoryStore(files)
  const reader = await open(store, options)
  const { chunks, rows } = await readAll(reader)
  assert.equal(store.open, 0, 'a stream is left open')
  await reader.close()
  const errors = chunks.flatMap((chunk, index) => {
    const before = chunks.slice(0, index).reduce((sum, each) => sum + each.rows.length, 0)
    return [...(chunk.errors ?? [])].map(([at, why]) => [before + at, why] as const)
  })
  return { columns: chunks[0]?.columns, rows, errors }
}

async function assertFails(work: Promise<unknown>, action: ErrorAction, code: string, says: RegExp) {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof ConnectorError, String(error))
    assert.deepEqual([error.action, error.code], [action, code])
    assert.match(error.message, says)
    return true
  })
}

/** Reads everything, then resumes after every checkpoint in a new reader, and expects exactly the rest. */
async function assertResumes(store: MemoryStore, options: Options, expected: readonly Row[]): Promise<number> {
  const reader = await open(store, options)
  const { chunks, rows } = await readAll(reader)
  assert.deepEqual(rows, expected)
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)
  assert.ok(bytes <= (reader.total?.bytes ?? 0), 'more bytes than there are')
  let before = 0
  for (const { checkpoint, rows: piece } of chunks) {
    before += piece.length
    const another = await open(store, options)
    const rest = await readAll(another, checkpoint)
    assert.deepEqual(rest.rows, expected.slice(before))
    await another.close()
  }
  await reader.close()
  assert.equal(store.open, 0)
  return chunks.length
}

/** Characters whose adjacent bytes look like the end of a line in UTF-16. */
const lookalikes = ['Ā', 'ਅ']
const cell = fc.oneof(
  fc.constant(null),
  fc.string({ unit: fc.constantFrom('a', 'é', '€', ...lookalikes, '"', ',', ';', '\r', '\n', ' '), maxLength: 12 }),
)
const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 40 })
const columns = ['first', 'second', 'third']

describe('readFiles', () => {
  test('resumes exactly after every checkpoint of CSV files, compressed or not, in every encoding', async () => {
    const encodings = ['utf-8', 'utf-8 with a mark', 'utf-16le', 'utf-16be', 'windows-1252'] as const
    const pieces = fc.integer({ min: 1, max: 400 })
    const settings = fc.record({
      packed: fc.boolean(),
      encoding: fc.constantFrom(...encodings),
      pieces,
      chunks: pieces,
    })
    await fc.assert(
      fc.asyncProperty(table, table, settings, async (first, second, { packed, encoding, pieces, chunks }) => {
        const [one, two] = [first, second].map((rows) => (encoding === 'windows-1252' ? narrow(rows) : rows))
        assert.ok(one && two)
        const file = (rows: Row[]) => {
          const bytes = encodedAs(encoding, Buffer.from(encodeCsv([columns, ...rows])).toString())
          return packed ? gzipSync(bytes) : bytes
        }
        const store = memoryStore({ 'b.csv': file(two), 'a.csv': file(one) }, pieces)
        await assertResumes(
          store,
          { chunkBytes: chunks, encoding: encoding === 'utf-8 with a mark' ? 'auto' : encoding },
          [...one, ...two],
        )
      }),
      { numRuns: 60 },
    )
  })

  test('resumes exactly after every checkpoint of NDJSON files', async () => {
    const pieces = fc.integer({ min: 1, max: 400 })
    await fc.assert(
      fc.asyncProperty(table, fc.boolean(), pieces, pieces, async (rows, packed, pieces, chunkBytes) => {
        const bytes = encodeNdjson(columns, rows)
        const store = memoryStore({ 'a.ndjson': packed ? gzipSync(bytes) : Buffer.from(bytes) }, pieces)
        await assertResumes(store, { chunkBytes }, rows)
      }),
      { numRuns: 60 },
    )
  })

  test('resumes in a large file at the checkpoint, and before it reads only the beginning of the file', async () => {
    const rows = Array.from({ length: 40_000 }, (_, index) => [
      `${index}`,
      `person-${index}@example.com`,
      'x'.repeat(80),
    ])
    const content = Buffer.from(encodeCsv([columns, ...rows]))
    const store = memoryStore({ 'a.csv': content })
    assert.ok((await assertResumes(store, {}, rows)) > 3)
    assert.ok(store.reads.some(({ fromByte }) => fromByte > content.length / 2))
  })

  test('reads files in the order of their names, and brings their columns into the order of the first', async () => {
    const { columns, rows } = await rowsOf({
      'b.csv': 'y,x\n3,4\n',
      'a.csv': 'x,y\n1,2\n',
      'c.csv': '',
      'd.csv': 'x,y\n',
    })
    assert.deepEqual(columns, ['x', 'y'])
    assert.deepEqual(rows, [
      ['1', '2'],
      ['4', '3'],
    ])
  })

  test('fails at a file that has other columns, and names it', async () => {
    for (const other of ['x,z\n1,2\n', 'x\n1\n', 'x,y,z\n1,2,3\n']) {
      await assertFails(rowsOf({ 'a.csv': 'x,y\n1,2\n', 'b.csv': other }), 'fail', 'invalid_file', /^b\.csv /)
    }
  })

  test('fails where a file was removed or replaced before it resumes', async () => {
    for (const change of [
      (store: MemoryStore) => store.contents.set('b.csv', Buffer.from('x\n3\n5\n')),
      (store: MemoryStore) => store.contents.delete('b.csv'),
      (store: MemoryStore) => store.contents.set('a.csv', Buffer.from('y\n3\n')),
    ]) {
      const store = memoryStore({ 'a.csv': 'x\n1\n', 'b.csv': 'x\n2\n3\n' })
      const reader = await open(store, { chunkBytes: 2 })
      const { chunks } = await readAll(reader)
      change(store)
      await assertFails(readAll(reader, chunks[1]?.checkpoint), 'fail', 'source_changed', /changed|is not what/)
      await assertFails(
        open(store).then((another) => readAll(another, chunks[1]?.checkpoint)),
        'fail',
        'source_changed',
        /^[ab]\.csv was removed or changed/,
      )
    }
  })

  test('refuses where there is no file', async () => {
    await assertFails(rowsOf({}), 'reconfigure', 'object_not_found', /no file/)
  })

  test('gives columns without a name, or with one that another has, names of their own', async () => {
    const { columns } = await rowsOf({ 'a.csv': ' email ,email,,email_2,email,\n' + '1,2,3,4,5,6\n' })
    assert.deepEqual(columns, ['email', 'email_3', 'column_3', 'email_2', 'email_4', 'column_6'])
  })

  test('finds gzip by the bytes, whatever the name says', async () => {
    const content = 'x;y\n1;2\n'
    const twice = Buffer.concat([gzipSync('x;y\n1;'), gzipSync('2\n')])
    for (const [name, bytes] of [
      ['a.csv', gzipSync(content)],
      ['a.csv.gz', Buffer.from(content)],
      ['a.csv.gz', twice],
    ] as const) {
      assert.deepEqual((await rowsOf({ [name]: bytes })).rows, [['1', '2']])
    }
  })

  test('finds error with rows whose bytes are not text, and with no other', async () => {
    const content = Buffer.concat([
      Buffer.from('x,y\né,\uFFFD\n'),
      Buffer.from([0x61, 0xff, 0x2c, 0x62]),
      Buffer.from('\nü,€\n'),
    ])
    const { rows, errors } = await rowsOf({ 'a.csv': content })
    assert.deepEqual(
      [rows[0], rows[2]],
      [
        ['é', '\uFFFD'],
        ['ü', '€'],
      ],
    )
    assert.equal(errors.length, 1)
    assert.match(String(errors[0]), /^1,The row is not valid UTF-8 text/)
    const json = Buffer.concat([
      Buffer.from('{"x":"\\u00e9é"}\n{"x":"'),
      Buffer.from([0xff]),
      Buffer.from('"}\n{"x":"ü"}'),
    ])
    const lines = await rowsOf({ 'a.ndjson': json })
    assert.deepEqual(lines.rows, [['éé'], [null], ['ü']])
    assert.equal(lines.errors.length, 1)
  })

  test('reads windows-1252 by all its names, and refuses an encoding that it does not know', async () => {
    for (const encoding of ['windows-1252', 'latin1', 'iso-8859-1']) {
      const { rows } = await rowsOf({ 'a.csv': Buffer.from([0x78, 0x0a, 0x80, 0xe9, 0x0a]) }, { encoding })
      assert.deepEqual(rows, [['€é']])
    }
    await assertFails(rowsOf({ 'a.csv': 'x\n1\n' }, { encoding: 'utf-7' }), 'reconfigure', 'invalid_setting', /utf-7/)
    await assertFails(
      rowsOf({ 'a.csv': 'x\n1\n' }, { encoding: 'shift_jis' }),
      'reconfigure',
      'invalid_setting',
      /shift_jis/,
    )
  })

  test('fails at what cannot be the file that it should be', async () => {
    const long = `x,y\n"${'a'.repeat(17 << 20)}`
    for (const [content, code, says] of [
      ['', 'invalid_file', /^a\.csv is empty/],
      ['\r\n\r\n', 'invalid_file', /^a\.csv is empty/],
      [gzipSync('x,y\n1,2\n'.repeat(9000)).subarray(0, -9), 'invalid_file', /^a\.csv is damaged/],
      [long, 'row_too_large', /^a\.csv has a row of more than 16 MiB/],
      [Buffer.from([0xff, 0x2c, 0x62, 0x0a]), 'invalid_file', /first line of a\.csv is not valid /i],
    ] as const) {
      await assertFails(rowsOf({ 'a.csv': content }), 'fail', code, says)
    }
  })

  test('hands on what the store says of a stream that breaks, packed or not', async () => {
    const content = Buffer.from(`x\n${Array.from({ length: 9000 }, () => Math.random()).join('\n')}`)
    for (const bytes of [content, gzipSync(content)]) {
      const store = memoryStore({ 'a.csv': bytes }, 1000)
      const broken = async function* (...[file, fromByte]: Parameters<MemoryStore['read']>) {
        let pieces = 0
        for await (const piece of store.read(file, fromByte)) {
          if (pieces++ === 5) throw new ConnectorError('connection_lost', 'The connection was interrupted.')
          yield piece
        }
      }
      const reader = await open({ ...store, read: broken })
      await assertFails(readAll(reader), 'retry', 'connection_lost', /was interrupted/)
      await reader.close()
    }
  })

  test('stops at the signal', async () => {
    const stop = new AbortController()
    const store = memoryStore({ 'a.csv': `x\n${'1\n'.repeat(1000)}` })
    const reader = await readFiles(testContext({ signal: stop.signal }), store, { format: 'auto', chunkBytes: 100 })
    const chunks = reader.read()[Symbol.asyncIterator]()
    await chunks.next()
    stop.abort()
    await assert.rejects(chunks.next(), { name: 'AbortError' })
    await reader.close()
    assert.equal(store.open, 0)
  })
})

describe('readFiles of NDJSON', () => {
  const read = (...lines: string[]) => rowsOf({ 'a.jsonl': lines.join('\n') })

  test('takes the keys of the first rows for columns, in any order, and what lacks for null', async () => {
    const { columns, rows, errors } = await read('{"a":1,"b":true}', '', '{"c":null,"b":"x","a":-0.5}\r', '{}')
    assert.deepEqual(columns, ['a', 'b', 'c'])
    assert.deepEqual(rows, [
      [1, true, null],
      [-0.5, 'x', null],
      [null, null, null],
    ])
    assert.deepEqual(errors, [])
  })

  test('keeps every digit, and nests as JSON text', async () => {
    const { rows } = await read(
      '{"id":12345678901234567890,"n":[1,{"b":98765432109876543210}],"d":0.12345678901234567890,"e":1e400,"ok":1234567890123456,"s":"9999999999999999999"}',
    )
    assert.deepEqual(rows, [
      [
        '12345678901234567890',
        '[1,{"b":98765432109876543210}]',
        '0.12345678901234567890',
        '1e400',
        1234567890123456,
        '9999999999999999999',
      ],
    ])
  })

  test('finds error with lines that are no object, and with fields that the first rows did not have', async () => {
    const many = Array.from({ length: 10_000 }, () => '{"a":1}')
    const { columns, rows, errors } = await read('[1]', 'x', ...many, '{"a":2,"b":3}', '{"a":4}')
    assert.deepEqual(columns, ['a'])
    assert.equal(rows.length, 10_004)
    assert.deepEqual(rows.at(-1), [4])
    assert.deepEqual(errors, [
      [0, 'The row is not a JSON object.'],
      [1, 'The row is not a JSON object.'],
      [10_002, 'The row has a field that is not in the first rows.'],
    ])
  })

  test('takes keys that objects have of their own accord for what the file says', async () => {
    const { columns, rows } = await read('{"__proto__":"a","constructor":"b"}', '{"constructor":"c"}', '{}')
    assert.deepEqual(columns, ['__proto__', 'constructor'])
    assert.deepEqual(rows, [
      ['a', 'b'],
      [null, 'c'],
      [null, null],
    ])
  })

  test('reads a file without rows as none', async () => {
    assert.deepEqual((await read('')).rows, [])
  })
})

/** Rows without the characters that windows-1252 does not have. */
const narrow = (rows: readonly Row[]): Row[] =>
  rows.map((row) => row.map((cell) => (typeof cell === 'string' ? cell.replace(/[Āਅ]/g, '_') : cell)))

function encodedAs(encoding: string, text: string): Buffer {
  switch (encoding) {
    case 'utf-8 with a mark':
      return Buffer.from(`\uFEFF${text}`)
    case 'utf-16le':
      return Buffer.from(text, 'utf16le')
    case 'utf-16be':
      return Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()
    case 'windows-1252':
      return Buffer.from(text.replaceAll('€', '\u0080'), 'latin1')
    default:
      return Buffer.from(text)
  }
}

describe('a CSV file without a header in its first line', () => {
  const head = 'Report, "of\n\nJanuary\n'

  test('is read behind lines that are skipped, in every encoding, and resumes exactly', async () => {
    const table = 'id,name\n1,é\n2,"a\nb"\n'
    const expected = [
      ['1', 'é'],
      ['2', 'a\nb'],
    ]
    const utf16 = Buffer.from(`\uFEFF${head}${table}`, 'utf16le')
    for (const content of [
      Buffer.from(head + table),
      gzipSync(head + table),
      Buffer.from(`\uFEFF${head}${table}`),
      utf16,
      Buffer.from(utf16).swap16(),
    ]) {
      await assertResumes(memoryStore({ 'a.csv': content }), { format: 'CSV', skipLines: 3, chunkBytes: 4 }, expected)
    }
    const { columns } = await rowsOf({ 'a.csv': head + table }, { format: 'CSV', skipLines: 3 })
    assert.deepEqual(columns, ['id', 'name'])
  })

  test('is read behind a line that names its delimiter, which is no row', async () => {
    for (const text of ['sep=;\r\nid;na,me\n1;é, f\n', '\uFEFF"SEP=;"\nid;na,me\n1;é, f\n']) {
      await assertResumes(memoryStore({ 'a.csv': text }), { format: 'CSV', chunkBytes: 4 }, [['1', 'é, f']])
    }
    assert.deepEqual((await rowsOf({ 'a.csv': 'sep=value\n1\n' }, { format: 'CSV' })).columns, ['sep=value'])
  })

  test('has the columns that the settings name', async () => {
    const { readOptionsOf } = await import('./fields.ts')
    const options = readOptionsOf({ format: 'CSV', skipLines: 3, columnNames: ' id, name ' })
    const { columns, rows, errors } = await rowsOf({ 'a.csv': `${head}1,x\n2\n`, 'b.csv': `${head}3,y\n` }, options)
    assert.deepEqual(columns, ['id', 'name'])
    assert.deepEqual(
      [rows[0], rows[2]],
      [
        ['1', 'x'],
        ['3', 'y'],
      ],
    )
    assert.deepEqual(
      errors.map(([at]) => at),
      [1],
    )
  })

  test('has no rows if all of its lines are skipped', async () => {
    await assertFails(
      rowsOf({ 'a.csv': head }, { format: 'CSV', skipLines: 9 }),
      'fail',
      'invalid_file',
      /a\.csv is empty/,
    )
  })
})
