import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'
import { collect } from '../../test/object-store-server.ts'
import { decodedName, filesOfPages, type ListingPage, listingBounds } from './listing.ts'
import { fileStoreOf, findFiles, type ObjectStore } from './object-store.ts'
import { elements, readXml, textAt } from './xml.ts'

const file = (name: string): StoredFile => ({ name, sizeBytes: 1, version: 'v' })

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const [result] = await Promise.allSettled([work])
  assert.equal(result.status, 'rejected')
  assert.ok(result.reason instanceof ConnectorError, String(result.reason))
  return `${result.reason.action} ${result.reason.code}: ${result.reason.message}`
}
const list = (ask: (token: string | undefined) => Promise<ListingPage>) => collect(filesOfPages('The store', ask))

describe('a listing', () => {
  test('ends where a page comes again, and where there are too many pages', async () => {
    const again = async (token = 'a') => ({ files: [], next: token === 'a' ? 'b' : 'a' })
    assert.match(await codeOf(list(again)), /^fail response_too_large: .* the same page/)
    let pages = 0
    const endless = async () => ({ files: [], next: `${++pages}` })
    assert.match(await codeOf(list(endless)), /^fail response_too_large: .* more than 300 pages/)
    assert.equal(pages, listingBounds.pages)
    const few = async (token = '0') => ({
      files: [file(token)],
      next: token === '9' ? undefined : `${Number(token) + 1}`,
    })
    assert.equal((await list(few)).length, 10)
  })

  test('is refused where it holds more than was asked for, or what is not a file', async () => {
    const page = (...files: StoredFile[]) => list(async () => ({ files, next: undefined }))
    const many = Array.from({ length: listingBounds.pageEntries + 1 }, (_, index) => file(`${index}`))
    assert.match(await codeOf(page(...many)), /^fail unexpected_response: .* more than the 1000 names/)
    for (const wrong of [
      { sizeBytes: Number.NaN },
      { sizeBytes: -1 },
      { sizeBytes: 1e300 },
      { name: '' },
      { name: 'x'.repeat(5000) },
      { version: '' },
      { version: 'x'.repeat(5000) },
    ]) {
      assert.match(await codeOf(page({ ...file('a'), ...wrong })), /^fail unexpected_response/, JSON.stringify(wrong))
    }
    assert.throws(() => decodedName('The store', '%zz'), { code: 'unexpected_response' })
  })

  test('means no more files than a transfer can read', async () => {
    let at = 0
    const store: ObjectStore = {
      page: async () => ({ files: [], next: undefined }),
      list: () =>
        filesOfPages('The store', async () => ({
          files: Array.from({ length: listingBounds.pageEntries }, () => file(`${at++}.csv`)),
          next: `${at}`,
        })),
      find: async () => undefined,
      get: async () => new Response(),
    }
    assert.match(await codeOf(findFiles(store, '', 'auto')), /^reconfigure too_many_files: .* 100000 files/)
  })
})

describe('the content of an object', () => {
  const read = async (sizeBytes: number, answer: (fromByte: number) => Response) => {
    let requests = 0
    const store: ObjectStore = {
      page: async () => ({ files: [], next: undefined }),
      list: async function* () {},
      find: async () => undefined,
      get: async (_file, fromByte) => {
        requests += 1
        return answer(fromByte)
      },
    }
    const code = await codeOf(collect(fileStoreOf(store, 'a', 'auto').read({ ...file('a'), sizeBytes }, 0)))
    return { code, requests }
  }

  test('is not asked for byte by byte where the store breaks off again and again', async () => {
    const { code, requests } = await read(1e12, () => new Response('x'))
    assert.match(code, /^retry connection_lost/)
    assert.equal(requests, 6)
  })

  test('is no longer than the listing said', async () => {
    assert.match((await read(10, () => new Response('x'.repeat(11)))).code, /^fail source_changed/)
  })
})

describe('XML of a store', () => {
  const codeOfXml = (text: string) => codeOf((async () => readXml(text, 'The store'))())
  const entry =
    '<Contents><Key>a &quot;b&quot; &amp; &#233;.csv</Key><ETag>&quot;e&quot;</ETag><Size>4</Size></Contents>'

  test('is read as large as a page of a listing is', () => {
    const page = readXml(`<R>${entry.repeat(listingBounds.pageEntries)}</R>`, 'The store')
    const found = elements(typeof page === 'object' ? (page.R as never) : undefined, 'Contents')
    assert.equal(found.length, listingBounds.pageEntries)
    assert.equal(textAt(found[0], 'Key'), 'a "b" & é.csv')
  })

  test('is refused where it is larger, and the bound is named', async () => {
    const large = 'x'.repeat(listingBounds.pageBytes)
    assert.match(await codeOfXml(`<R>${large}</R>`), /^fail response_too_large: .* 4194304 characters/)
    assert.match(await codeOfXml(`<R>${'<a/>'.repeat(150_001)}</R>`), /^fail response_too_large: .* 150000 tags/)
    assert.match(await codeOfXml(`<R a="${'x'.repeat(5000)}"/>`), /^fail response_too_large: .* 4096 characters/)
    assert.match(
      await codeOfXml(`<R>${`<a${' a'.repeat(2000)}/>`.repeat(600)}</R>`),
      /^fail response_too_large: .* in total/,
    )
    assert.match(await codeOfXml('<a>'.repeat(1000)), /^retry malformed_response/)
  })

  test('expands no entity of its own', async () => {
    for (const text of [
      '<!DOCTYPE R [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><R>&b;</R>',
      '<!DOCTYPE R SYSTEM "file:///etc/passwd"><R/>',
      '<!doctype html><html><body>Oh</body></html>',
    ]) {
      assert.match(await codeOfXml(text), /^retry malformed_response/)
    }
    const kept = readXml('<R>&b;</R>', 'The store')
    assert.equal(textAt(kept, 'R'), '&b;')
  })
})
