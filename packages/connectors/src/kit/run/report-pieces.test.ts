import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { elementsIn } from './json-elements.ts'
import { unpacked } from './unpack.ts'

async function* inPieces<T extends string | Uint8Array>(whole: T, size: number): AsyncGenerator<T> {
  for (let at = 0; at < whole.length; at += size) yield whole.slice(at, at + size) as T
}

async function elements(text: string, path: string[], size: number): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const element of elementsIn(inPieces(text, size), path, 'It')) found.push(JSON.parse(element))
  return found
}

describe('a list in JSON that comes in pieces', () => {
  const rows = [{ a: '],"[{' }, { b: [1, { c: '\\"' }] }, 3, 'x,y', null]
  const document = JSON.stringify({ 'da"ta': [9], data: { skip: [[1], { rows: [2] }], rows } })

  test('is found wherever the pieces end', async () => {
    for (const size of [1, 2, 7, 1_000]) {
      assert.deepEqual(await elements(JSON.stringify(rows, null, 1), [], size), rows)
      assert.deepEqual(await elements(document, ['data', 'rows'], size), rows)
      assert.deepEqual(await elements(' [ ] ', [], size), [])
      assert.deepEqual(await elements('{"7":[{"a":[1]},2],"8":[],"9":[3]}', ['*'], size), [{ a: [1] }, 2, 3])
      assert.deepEqual(await elements(' { } ', ['*'], size), [])
    }
  })

  test('must be there, and must end', async () => {
    for (const [text, path] of [
      [document, ['data', 'other']],
      ['[1,2', []],
      ['{"7":[1]', ['*']],
      ['7', ['*']],
      ['', []],
      ['{"data":7}', ['data']],
    ] as const) {
      await assert.rejects(elements(text, [...path], 3), { code: 'malformed_response' })
    }
  })
})

async function unpack(bytes: Uint8Array, size = 5): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of unpacked(inPieces(bytes, size), 'It')) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

describe('a packed file', () => {
  test('is unpacked if it begins like one', async () => {
    assert.equal(await unpack(gzipSync('a,b\n1,2\n')), 'a,b\n1,2\n')
    assert.equal(await unpack(Buffer.from('plain')), 'plain')
    assert.equal(await unpack(Buffer.from('x')), 'x')
    assert.equal(await unpack(Buffer.alloc(0)), '')
    const plain = Buffer.alloc(30)
    plain.writeUInt32LE(0x04034b50, 0)
    plain.writeUInt32LE(3, 18)
    assert.equal(await unpack(Buffer.concat([plain, Buffer.from('abcPK\x01\x02')])), 'abc')
  })

  test('fails if it is damaged, ends early, or is a bomb', async () => {
    const packed = gzipSync('a'.repeat(1_000))
    await assert.rejects(unpack(packed.subarray(0, 15)), { code: 'malformed_response' })
    await assert.rejects(unpack(Buffer.from('PK\x03\x04')), { code: 'malformed_response' })
    const head = Buffer.alloc(30)
    head.writeUInt32LE(0x04034b50, 0)
    head.writeUInt16LE(8, 8)
    await assert.rejects(unpack(Buffer.concat([head, deflateRawSync('abc').subarray(0, 3)])), {
      code: 'malformed_response',
    })
    await assert.rejects(unpack(gzipSync(Buffer.alloc(66 << 20)), 16 << 10), { code: 'response_too_large' })
  })
})
