import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../../../../test/harness/property.ts'
import { workbookOf, zipOf } from '../../test/zip.ts'
import { testContext } from '../acceptance/index.ts'
import { ConnectorError } from '../connector-error.ts'
import { bounds, rowErrors } from './bounds.ts'
import { memoryStore } from './memory-store.ts'
import { readFiles } from './read.ts'

async function readAllOf(content: Buffer) {
  const store = memoryStore({ 'a.xlsx': content })
  const reader = await readFiles(testContext(), store, { format: 'auto' })
  const errors = new Set<string>()
  let rows = 0
  let chars = 0
  let memory = 0
  try {
    for await (const chunk of reader.read()) {
      rows += chunk.rows.length
      for (const error of chunk.errors?.values() ?? []) errors.add(error)
      let piece = 0
      for (const row of chunk.rows) for (const cell of row) if (typeof cell === 'string') piece += cell.length
      assert.ok(piece <= bounds.pieceChars + bounds.rowBytes, 'a piece that is too large')
      chars += piece
      memory = Math.max(memory, process.memoryUsage.rss())
    }
  } finally {
    await reader.close()
    assert.equal(store.open, 0, 'a stream is left open')
  }
  return { rows, chars, errors, memory }
}

const sheet = (content: string | Buffer) => [{ name: 'xl/worksheets/sheet1.xml', content }]
const assertRefused = (content: Buffer, code: string, message: RegExp) =>
  assert.rejects(readAllOf(content), { code, message })
const header = '<row r="1"><c t="str"><v>a</v></c></row>'

describe('workbooks from anyone', () => {
  test('are read with as many rows as a sheet can have, in memory that does not grow with them', async () => {
    const rowsMax = 1_048_576
    const parts: string[] = ['<worksheet><sheetData>', header]
    for (let number = 2; number <= rowsMax; number += 1) {
      parts.push(`<row r="${number}"><c r="A${number}"><v>${number}.5</v></c></row>`)
    }
    const book = workbookOf({ sheets: { One: '' }, others: sheet(`${parts.join('')}</sheetData></worksheet>`) })
    parts.length = 0
    const before = process.memoryUsage.rss()
    const { rows, errors, memory } = await readAllOf(book)
    assert.equal(rows, rowsMax - 1)
    assert.equal(errors.size, 0)
    assert.ok(memory - before < 150 << 20, `${(memory - before) >> 20} MiB more`)
  })

  test('are refused if they unpack to more than they may', async () => {
    const element = `<a b="${'x'.repeat(1 << 20)}"/>`
    const zeros = `<worksheet>${element.repeat(65)}</worksheet>`
    await assertRefused(
      workbookOf({ sheets: { One: '' }, others: sheet(zeros) }),
      'file_too_large',
      /64 MiB and more than/,
    )
    const texts = [element.repeat(65)]
    const inTexts = workbookOf({ sheets: { One: header }, texts })
    await assertRefused(inTexts, 'file_too_large', /unpacks to more than 64 MiB/)
    const claims = workbookOf({
      sheets: { One: '' },
      others: [{ name: 'xl/styles.xml', content: zeros, claimed: 100 }],
    })
    await assertRefused(claims, 'file_too_large', /unpacks to more than 64 MiB/)
    const parts = Array.from({ length: bounds.workbook.parts + 1 }, (_, at) => ({ name: `${at}`, content: '' }))
    await assertRefused(zipOf(parts), 'invalid_file', /has more than 20000 parts/)
  })

  test('hand on a text that many cells have no more often than their size allows', async () => {
    const text = `<si><t>${'x'.repeat(1 << 20)}</t></si>`
    const cell = '<c t="s"><v>0</v></c>'
    const wide = workbookOf({
      texts: [text],
      sheets: { One: `${header}<row>${cell.repeat(100)}</row><row r="3">${cell}</row>` },
    })
    const found = await readAllOf(wide)
    assert.deepEqual([found.rows, [...found.errors]], [2, [rowErrors.rowTooLong]])
    const long = workbookOf({ texts: [text], sheets: { One: `${header}${`<row>${cell}</row>`.repeat(10_000)}` } })
    await assertRefused(long, 'file_too_large', /unpacks to more than 64 MiB/)
    const huge = [`<si><t>${'x'.repeat(9 << 20)}</t></si>`]
    await assertRefused(
      workbookOf({ texts: huge, sheets: { One: header } }),
      'file_too_large',
      /or a text of more than 8 MiB/,
    )
  })

  test('are refused for entities, deep elements, and texts and tags without an end', async () => {
    const entities = Array.from({ length: 10 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join('')
    const bomb = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">${entities}]><worksheet>&e9;</worksheet>`
    for (const content of [
      bomb,
      `<!DOCTYPE worksheet SYSTEM "file:///etc/passwd"><worksheet/>`,
      '<a>'.repeat(1_000_000),
      `<worksheet a="${'x'.repeat(20 << 20)}"/>`,
      `<worksheet><${'x'.repeat(20 << 20)}/></worksheet>`,
      `<worksheet><sheetData><row><c><v>${'1'.repeat(20 << 20)}</v></c></row></sheetData></worksheet>`,
      `<worksheet><!--${'x'.repeat(20 << 20)}--></worksheet>`,
    ]) {
      const book = workbookOf({ sheets: { One: '' }, others: sheet(content) })
      await assertRefused(book, 'invalid_file', /^a\.xlsx is a damaged/)
    }
  })

  test('are refused for tags, attributes and entities that are small as a file and large in memory', async () => {
    const long = 'x'.repeat(14 << 20)
    const rows = (content: string) => workbookOf({ sheets: { One: content } })
    const texts = (text: string) => workbookOf({ texts: [text], sheets: { One: '<row><c t="s"><v>0</v></c></row>' } })
    const styles = (content: string) =>
      workbookOf({
        sheets: { One: `${header}<row><c s="0"><v>1</v></c></row>` },
        others: [{ name: 'xl/styles.xml', content: `<styleSheet>${content}</styleSheet>` }],
      })
    const attributes = Array.from({ length: 4_000 }, (_, at) => `a${at}=""`).join(' ')
    const hostile: Readonly<Record<string, Buffer>> = {
      'an attribute of a sheet': workbookOf({ sheets: { One: '' }, others: sheet(`<worksheet a="${long}"/>`) }),
      'an attribute of a row': rows(`${header}<row r="2" a="${long}"/>`),
      'the place of a cell': rows(`${header}<row r="2"><c r="${'9'.repeat(14 << 20)}"/></row>`),
      'an attribute of a shared text': texts(`<si a="${long}"><t>a</t></si>`),
      'the format of a style': styles(`<numFmts><numFmt numFmtId="200" formatCode="${long}"/></numFmts>`),
      'the name of a sheet': workbookOf({ sheets: { [long]: header } }),
      'a comment': rows(`${header}<!--${long}-->`),
      'an instruction': rows(`${header}<?a ${long}?>`),
      'the name of a tag': rows(`${header}<${long}/>`),
      'the name of an attribute': rows(`${header}<row ${long}="1"/>`),
      'an entity': rows(`${header}<row><c t="str"><v>&${long};</v></c></row>`),
      'entities of an attribute': rows(`${header}<row a="${'&amp;'.repeat(2_800_000)}"/>`),
      attributes: workbookOf({ sheets: { One: '' }, others: sheet(`<worksheet ${attributes}/>`) }),
    }
    const before = process.memoryUsage.rss()
    for (const [name, book] of Object.entries(hostile)) {
      await assert.rejects(readAllOf(book), { code: 'invalid_file', message: /^a\.xlsx is a damaged/ }, name)
    }
    const grown = process.memoryUsage.rss() - before
    assert.ok(grown < 200 << 20, `${grown >> 20} MiB more`)
  })

  test('are read or refused with words, whatever byte is another one', async () => {
    const book = workbookOf({
      formats: ['yyyy-mm-dd'],
      texts: ['<si><t>a</t></si>', '<si><t>b</t></si>'],
      sheets: { One: `${header}<row r="2"><c t="s"><v>1</v></c></row><row r="3"><c s="1"><v>5</v></c></row>` },
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(book.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }),
        async (damages) => {
          const damaged = Buffer.from(book)
          for (const [at, byte] of damages) damaged[at] = byte
          await readAllOf(damaged).catch((error: unknown) => assert.ok(error instanceof ConnectorError, String(error)))
        },
      ),
      { numRuns: 2_000 },
    )
    // Damage within the parts, with sums that are right.
    const part = Buffer.from(
      `<worksheet><sheetData>${header}<row r="2"><c t="s"><v>1</v></c></row></sheetData></worksheet>`,
    )
    await fc.assert(
      fc.asyncProperty(fc.nat(part.length - 1), fc.nat(255), async (at, byte) => {
        const changed = Buffer.from(part)
        changed[at] = byte
        const other = workbookOf({ texts: ['<si><t>a</t></si>'], sheets: { One: '' }, others: sheet(changed) })
        await readAllOf(other).catch((error: unknown) => assert.ok(error instanceof ConnectorError, String(error)))
      }),
      { numRuns: 2_000 },
    )
  })
})
