import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { testContext } from '../acceptance/index.ts'
import { ConnectorError } from '../connector-error.ts'
import { bounds, rowErrors } from './bounds.ts'
import { makeStream, pieceBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { type ReadOptions, readFiles } from './read.ts'
import { magicBytes, unpackerOf } from './unpack.ts'

async function read(name: string, content: Buffer | string, options: Partial<ReadOptions> = {}) {
  const reader = await readFiles(testContext(), memoryStore({ [name]: content }), { format: 'auto', ...options })
  try {
    const { chunks, rows } = await readAll(reader)
    const errors = chunks.flatMap((chunk) => [...(chunk.errors ?? [])].map(([, why]) => why))
    return { columns: chunks[0]?.columns ?? [], chunks, rows, errors }
  } finally {
    await reader.close()
  }
}

async function assertFails(work: Promise<unknown>, code: string, says: RegExp) {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof ConnectorError, String(error))
    assert.deepEqual([error.action, error.code], ['fail', code])
    assert.match(error.message, says)
    return true
  })
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels)

describe('bounds of text files', () => {
  test('take as many columns as there may be, and no more', async () => {
    const header = (count: number) => numbers(count).join(',')
    assert.equal((await read('a.csv', `${header(2_000)}\n${header(2_000)}\n`)).columns.length, 2_000)
    await assertFails(read('a.csv', `${header(2_001)}\n`), 'too_many_columns', /^a\.csv has more than 2000 columns\. /)
    const object = (count: number) => JSON.stringify(Object.fromEntries(numbers(count).map((key) => [`k${key}`, key])))
    assert.equal((await read('a.ndjson', object(2_000))).columns.length, 2_000)
    await assertFails(read('a.ndjson', `${object(100_000)}\n${'{}\n'.repeat(1_000)}`), 'too_many_columns', /2000/)
    const many = numbers(2_001).map((key) => `{"k${key}":1}`)
    await assertFails(read('a.ndjson', many.join('\n')), 'too_many_columns', /2000/)
  })

  test('take short rows of many columns a few at a time', async () => {
    const header = numbers(2_000).join(',')
    for (const [name, content] of [
      ['a.csv', `${header}\n${'1\n'.repeat(3_000)}`],
      [
        'a.ndjson',
        `${JSON.stringify(Object.fromEntries(numbers(2_000).map((key) => [`k${key}`, 1])))}\n${'{}\n'.repeat(3_000)}`,
      ],
    ] as const) {
      const { chunks, rows } = await read(name, content)
      assert.ok(rows.length >= 3_000)
      assert.ok(Math.max(...chunks.map((chunk) => chunk.rows.length)) <= bounds.pieceCells / 2_000)
    }
  })

  test('refuse a column whose name is too long', async () => {
    await assertFails(read('a.csv', `a,${'md5'.repeat(400)}\n`), 'too_many_columns', /1024 characters for column 2/)
    await assertFails(read('a.ndjson', `{"${'k'.repeat(1_025)}":1}`), 'too_many_columns', /1024/)
  })

  test('look for the header in the first bytes alone', async () => {
    const long = (unit: string) => unit.repeat((2 << 20) / unit.length)
    for (const content of [long('\n'), long('\r\n'), long(','), `"${long('""\n')}`, `"${long('a\n')}`]) {
      await assertFails(read('a.csv', content), 'invalid_file', /first line of more than 1 MiB/)
    }
    assert.deepEqual((await read('a.csv', `${'\n'.repeat(500_000)}x,y\n1,2\n`)).rows, [['1', '2']])
    await assertFails(
      read('a.csv', '"a,b\n1,2\n'),
      'invalid_file',
      /valid column names\. The row has a quote that is never/,
    )
  })

  test('reject a row with a value that is too long, and no other', async () => {
    const long = 'é'.repeat(bounds.cellBytes / 2 + 1)
    const csv = await read('a.csv', `x,y\n1,2\n3,${long}\n5,6\n`)
    assert.deepEqual(csv.rows, [
      ['1', '2'],
      ['3', null],
      ['5', '6'],
    ])
    assert.deepEqual(csv.errors, [rowErrors.cellTooLong])
    const json = await read('a.ndjson', `{"x":"1"}\n{"x":["${long}"]}\n{"x":"2"}\n`)
    assert.deepEqual(json.rows, [['1'], [null], ['2']])
    assert.deepEqual(json.errors, [rowErrors.cellTooLong])
  })

  test('reject a row that is nested too deep, and no other', async () => {
    for (const levels of [101, 5_000, 100_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
        ['[{"a":', '}]'],
      ] as const) {
        const inside = open === '[' ? nested(levels, open, close) : `${open.repeat(levels)}1${close.repeat(levels)}`
        const { rows, errors } = await read('a.ndjson', `{"x":1}\n{"x":${inside}}\n{"x":"\\u0032"}\n`)
        assert.deepEqual(rows, [[1], [null], ['2']])
        assert.deepEqual(errors, [rowErrors.nestedTooDeep])
      }
    }
    const most = nested(bounds.nestingLevels - 1, '[', ']')
    assert.deepEqual((await read('a.ndjson', `{"x":${most}}\n{ "x":${most}}`)).rows, [[most], [most]])
  })

  test('unpack files to so many times their size, and no further', async () => {
    const content = Buffer.concat([Buffer.from('a,b\n'), Buffer.alloc(bounds.compressed.freeBytes, '\n')])
    for (const compress of [gzipSync, zstdCompressSync]) {
      await assertFails(read('a.csv', compress(content)), 'file_too_large', /64 MiB and more than 300 times its size/)
    }
    const many = Buffer.alloc(9 * 100_001, Buffer.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0]))
    await assertFails(read('a.csv', many), 'file_too_large', /more than 100000 frames of zstd/)
  })

  test('refuse a web page in the place of a file of rows', async () => {
    for (const page of ['<!DOCTYPE html>\n<html>', '\n  <html lang="en">', '<HTML>']) {
      for (const name of ['a.csv', 'a.ndjson'])
        await assertFails(read(name, page), 'invalid_file', /is a web page \(HTML\)/)
    }
    assert.deepEqual((await read('a.csv', '<htmlish>,b\n1,2\n')).columns, ['<htmlish>', 'b'])
  })
})

/** Processor time of this process for some work, its threads included, in microseconds. */
async function cost(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function unpack(bytes: Buffer): Promise<number> {
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const file = { name: 'a', sizeBytes: bytes.length, version: '' }
  const unpacker = unpackerOf(file, bytes.subarray(0, magicBytes))
  let unpacked = 0
  for await (const piece of unpacker?.(makeStream(pieces(), new AbortController().signal)) ?? [])
    unpacked += piece.length
  return unpacked
}

test('compressed files of many small parts take as long as their parts', async () => {
  const frame = zstdCompressSync('1,a\n')
  const start = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58])
  const bzip2 = '425a683931415926535957afd8c5000001590000100004200020002000219a68334d173c5dc914e142415ebf6314'
  /** Files with a number of parts, and how many times as long as the smallest decompression each part can take. */
  const files: Readonly<Record<string, [make: (parts: number) => Buffer, timesMax: number]>> = {
    'frames of zstd': [(parts) => Buffer.alloc(parts * frame.length, frame), 6],
    'empty blocks of zstd': [(parts) => Buffer.concat([start, Buffer.alloc(parts * 3), Buffer.from([1, 0, 0])]), 0.4],
    'members of gzip': [(parts) => Buffer.alloc(parts * 24, gzipSync('1,a\n')), 1],
    'streams of bzip2': [(parts) => Buffer.alloc(parts * 46, bzip2, 'hex'), 12],
    'empty streams of bzip2': [(parts) => Buffer.alloc(parts * 14, '425a683917724538509000000000', 'hex'), 4],
  }
  const parts = 5_000
  const smallest = await cost(() => numbers(parts).forEach(() => void zstdDecompressSync(frame)))
  for (const [name, [make, timesMax]] of Object.entries(files)) {
    const bytes = make(parts)
    const taken = await cost(() => unpack(bytes))
    assert(taken / smallest < timesMax, `${name}: ${taken / smallest} times`)
  }
})

describe('distinctNames', () => {
  test('gives the names that it gave one by one', () => {
    const names = ['a', 'a_2', 'a', 'a', 'a_2', '', ' a ', 'column_6', 'a_4', 'a_2']
    assert.deepEqual(distinctNames(names), [
      'a',
      'a_2',
      'a_3',
      'a_5',
      'a_2_2',
      'column_6',
      'a_6',
      'column_6_2',
      'a_4',
      'a_2_3',
    ])
  })
})
