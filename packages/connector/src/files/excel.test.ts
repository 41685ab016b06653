import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { workbookOf, zipOf } from '../../test/zip.ts'
import { testContext } from '../acceptance/index.ts'
import { placeOfRow } from '../row-places.ts'
import { memoryStore, readAll } from './memory-store.ts'
import { type ReadOptions, readFiles } from './read.ts'
import { discoverableSheets } from './sheets.ts'

async function read(content: Buffer | Record<string, Buffer>, options: Partial<ReadOptions> = {}) {
  const store = memoryStore(Buffer.isBuffer(content) ? { 'a.xlsx': content } : content)
  const reader = await readFiles(testContext(), store, { format: 'auto', ...options })
  const { chunks, rows } = await readAll(reader)
  assert.equal(store.open, 0, 'a stream is left open')
  const errors = chunks.flatMap((chunk) => [...(chunk.errors ?? [])])
  return { columns: chunks[0]?.columns, rows, errors, chunks, store }
}

const written = (name: string) => readFile(new URL(`../../test/workbooks/${name}.xlsx`, import.meta.url))

/** Cells of a row as they are written, from column A on. */
const row = (number: number, ...cells: string[]) => `<row r="${number}">${cells.join('')}</row>`
const inline = (...texts: string[]) =>
  texts.map((text) => `<c t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`).join('')
const value = (written: string, style = 0) => `<c s="${style}"><v>${written}</v></c>`
const header = (...names: string[]) => row(1, inline(...names))

const assertRefused = (content: Buffer, message: RegExp, code = 'invalid_file', options: Partial<ReadOptions> = {}) =>
  assert.rejects(read({ 'a.csv': content }, options), { code, message })

describe('Excel workbooks', () => {
  test('that other programs wrote are read as those show them', async () => {
    const excel = await read(await written('excel-16'))
    assert.deepEqual(excel.columns?.slice(5), ['provincia', 'sesso', 'cap', 'data di nascita'])
    assert.deepEqual(excel.rows[0]?.slice(0, 8), [
      'lambrate',
      'Italy',
      'hello@example.com',
      'rossi',
      'mario',
      'MI',
      'M',
      '20131',
    ])
    for (const name of ['excel-mac', 'libreoffice']) {
      const { columns, rows } = await read(await written(name))
      assert.deepEqual(columns, ['string', 'Data di nascita', 'cap'])
      assert.deepEqual(rows, [['string', '1986-09-27', 20064]])
    }
    const sheetjs = await read(await written('sheetjs'))
    assert.deepEqual(sheetjs.rows.slice(0, 3), [
      ['a1', 23, 'he,llo'],
      ['a2', 24, '2,345.56'],
      ['a3', 256, '"rahul,raj"'],
    ])
    const writer = await read(await written('xlsxwriter'))
    assert.deepEqual(writer.rows[0], [
      12345678901234,
      'Zoë "Q", A\nB & <C>',
      '1999-12-31',
      '2026-01-31T09:30:15.250',
      '30:15:00',
      0.1,
      true,
      3,
      'plain bold end',
    ])
    // Of merged cells, the first one has the value.
    assert.deepEqual(writer.rows[2]?.slice(0, 4), [3, 'merged', null, null])
    assert.deepEqual(writer.errors, [[1, 'The cell H4 has the error #N/A.']])
    assert.deepEqual((await read(await written('xlsxwriter'), { excel: { sheet: 'hidden' } })).rows, [[1, 2]])
    const from1904 = await read(await written('openpyxl-1904'))
    assert.deepEqual(from1904.rows, [
      [1, '2026-02-03T04:05:06', '2026-02-03', null, 'a'],
      [0.3, '09:30:00', '30:15:00', null, '  spaces  '],
    ])
    assert.match(String(from1904.errors), /^0,The cell D2 has a formula without a result\. /)
  })

  test('keep the digits of numbers, and show days and times by their formats', async () => {
    const formats = ['yyyy\\-mm\\-dd;@', 'h:mm', 'd.m.yy h:mm', '[h]:mm', '0.00"d"', '[$-409]mmm\\-yy', 'mm:ss.0', '@']
    const cells = (days: string) => formats.map((_, at) => value(days, at + 1))
    const numbers = ['12345678901234567890', '0.1000000000000000055', '1E400', '-1.5e-3', '007'].map((each) =>
      value(each),
    )
    const book = workbookOf({
      formats,
      sheets: {
        One: [
          header('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
          row(2, ...cells('46053.395833333336')),
          row(3, ...cells('46053')),
          row(4, ...cells('0.5')),
          row(5, ...numbers),
          row(6, value('59', 1), value('61', 1), value('2958465', 1), value('-0.5', 4)),
          row(7, value('60', 1)),
          row(8, value('2958466', 1)),
          row(9, value('-1', 1)),
        ].join(''),
      },
    })
    const { rows, errors } = await read(book)
    assert.deepEqual(rows.slice(0, 5), [
      [
        '2026-01-31T09:30:00',
        '2026-01-31T09:30:00',
        '2026-01-31T09:30:00',
        '1105281:30:00',
        46053.395833333336,
        '2026-01-31T09:30:00',
        '2026-01-31T09:30:00',
        46053.395833333336,
      ],
      [
        '2026-01-31',
        '2026-01-31T00:00:00',
        '2026-01-31T00:00:00',
        '1105272:00:00',
        46053,
        '2026-01-31',
        '2026-01-31T00:00:00',
        46053,
      ],
      [null, '12:00:00', null, '12:00:00', 0.5, null, '12:00:00', 0.5],
      ['12345678901234567890', '0.1000000000000000055', '1E400', -0.0015, 7, null, null, null],
      ['1900-02-28', '1900-03-01', '9999-12-31', '-12:00:00', null, null, null, null],
    ])
    assert.deepEqual(errors, [
      [2, 'The cell A4 has a day that does not exist.'],
      [5, 'The cell A7 has a day that does not exist.'],
      [6, 'The cell A8 has a day that does not exist.'],
      [7, 'The cell A9 has a day that does not exist.'],
    ])
  })

  test('have texts, booleans, errors, and formulas with their results', async () => {
    const book = workbookOf({
      texts: [
        '<si><t>plain</t></si>',
        '<si><r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r><rPh sb="0" eb="1"><t>reading</t></rPh></si>',
        '<si><t>a_x000D__x005F_x0041_ &lt;&amp;&#233;</t></si>',
      ],
      sheets: {
        One: [
          '<row r="2"/>',
          row(3, inline(' name ', '', 'name')),
          row(4, '<c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c>'),
          row(6, '<c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="d"><v>2026-01-31T00:00:00</v></c>'),
          row(7, '<c t="str"><f>A1&amp;"b"</f><v>ab</v></c><c><f>1+1</f><v>2</v></c><c t="str"><f>""</f><v></v></c>'),
          row(8, '<c t="e"><f>1/0</f><v>#DIV/0!</v></c><c t="e"><v>&lt;script&gt;</v></c>'),
          row(9, '<c t="str"><f>""</f><v></v></c><c s="0"/>'),
          row(10, '<c r="B10"><v>5</v></c><c r="D10"><v>6</v></c>'),
        ].join(''),
      },
    })
    const { columns, rows, errors } = await read(book)
    assert.deepEqual(columns, ['name', 'column_2', 'name_2'])
    assert.deepEqual(rows, [
      ['plain', 'rich text', 'a\r_x0041_ <&é'],
      [true, false, '2026-01-31T00:00:00'],
      ['ab', 2, null],
      [null, null, null],
      [null, 5, null],
    ])
    assert.deepEqual(errors, [
      [3, 'The cell A8 has the error #DIV/0!.'],
      [4, 'The row has a value in column D, which has no name in the header.'],
    ])
  })

  test('have sheets and a header that can be chosen', async () => {
    const book = workbookOf({
      sheets: {
        Secret: header('a') + row(2, value('1')),
        'Q1 2026': row(1, inline('Report of 2026')) + row(4, inline('id', 'name')) + row(5, value('1'), inline('x')),
        Empty: '',
      },
      states: { Secret: 'state="hidden"' },
    })
    assert.deepEqual((await read(book)).columns, ['Report of 2026'])
    const below = await read(book, { excel: { headerRow: 4 } })
    assert.deepEqual(below.rows, [[1, 'x']])
    assert.deepEqual(
      below.chunks.map(({ places }) => places && placeOfRow(places, 0)),
      [{ file: 'a.xlsx', sheet: 'Q1 2026', unit: 'row', number: 5 }],
    )
    assert.deepEqual((await read(book, { excel: { sheet: 'secret' } })).rows, [[1]])
    await assertRefused(book, /^a\.csv has no sheet called Q2\. /, 'object_not_found', { excel: { sheet: 'Q2' } })
    await assertRefused(book, /^a\.csv is empty\. A sheet begins with/, 'invalid_file', { excel: { sheet: 'Empty' } })
    await assertRefused(book, /no value in row 3, which is set/, 'invalid_file', { excel: { headerRow: 3 } })
    await assertRefused(book, /no value in row 9/, 'invalid_file', { excel: { headerRow: 9 } })
    const sheets = await discoverableSheets(memoryStore({ 'b.xlsx': book }), new AbortController().signal)
    assert.deepEqual(
      sheets.map(({ name, hidden }) => [name, hidden]),
      [
        ['Q1 2026', false],
        ['Empty', false],
        ['Secret', true],
      ],
    )
    const csv = discoverableSheets(memoryStore({ 'b.csv': 'a\n1\n' }), new AbortController().signal)
    await assert.rejects(csv, { code: 'invalid_setting', message: /b\.csv is CSV, which has no sheets/ })
    const both = await read({ 'a.csv': Buffer.from('name,id\ny,2\n'), 'b.xlsx': book }, { excel: { headerRow: 4 } })
    assert.deepEqual(both.rows, [
      ['y', '2'],
      ['x', 1],
    ])
  })

  test('resume exactly after every checkpoint', async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => row(at + 2, value(String(at)), inline(`name ${at}`)))
    const book = workbookOf({ sheets: { One: header('id', 'name') + many.join('') } })
    const { chunks, rows, store } = await read(book)
    assert.equal(rows.length, 2_500)
    assert.ok(chunks.length > 2)
    let before = 0
    for (const { checkpoint, rows: piece } of chunks) {
      before += piece.length
      const reader = await readFiles(testContext(), store, { format: 'auto' })
      assert.deepEqual((await readAll(reader, checkpoint)).rows, rows.slice(before))
    }
    assert.equal(store.open, 0)
  })

  test('are refused with words if they are none, protected, damaged, or of another program', async () => {
    const book = workbookOf({ sheets: { One: header('a') + row(2, value('1')) } })
    await assertRefused(
      Buffer.from('d0cf11e0a1b11ae100000000', 'hex'),
      /with a password, an Excel workbook in the old format \(\.xls\)/,
    )
    await assertRefused(gzipSync(book), /is a compressed Excel workbook/)
    await assertRefused(book, /an Excel workbook or a ZIP archive, but the format CSV/, 'invalid_file', {
      format: 'CSV',
    })
    await assertRefused(Buffer.from('a\n1\n'), /is not an Excel workbook/, 'invalid_file', { format: 'Excel' })
    await assertRefused(zipOf([{ name: 'a.csv', content: 'a\n1\n' }]), /is a ZIP archive, not an Excel workbook/)
    await assertRefused(
      zipOf([
        { name: 'content.xml', content: '' },
        { name: 'META-INF/manifest.xml', content: '' },
      ]),
      /is an OpenDocument file/,
    )
    for (const end of [book.length - 1, book.length >> 1, 30, 4]) {
      await assertRefused(book.subarray(0, end), /is a damaged Excel workbook/)
    }
    const damaged = (name: string, content: string, parts: object = {}) =>
      assertRefused(
        workbookOf({ sheets: { One: header('a') }, others: [{ name, content, ...parts }] }),
        /is a damaged Excel workbook/,
      )
    const sheet = 'xl/worksheets/sheet1.xml'
    await damaged(sheet, '<worksheet><sheetData><row r="1">')
    await damaged(sheet, '<worksheet><sheetData><row r="x"><c><v>1</v></c></row></sheetData></worksheet>')
    await damaged(sheet, '<worksheet><sheetData><row><c r="XFE1"><v>1</v></c></row></sheetData></worksheet>')
    await damaged(sheet, '<worksheet><sheetData><row><c><v>one</v></c></row></sheetData></worksheet>')
    await damaged(sheet, '<worksheet><sheetData><row><c t="s"><v>1</v></c></row></sheetData></worksheet>')
    await damaged(sheet, '<!DOCTYPE a [<!ENTITY b "c">]><worksheet/>')
    await damaged(sheet, '<worksheet>&b;</worksheet>')
    await damaged(sheet, `${'<a>'.repeat(200)}${'</a>'.repeat(200)}`)
    await damaged(sheet, '<worksheet/>', { claimed: 5 })
    await damaged('../../etc/passwd', 'x')
    await damaged('/etc/passwd', 'x')
    await damaged('xl/Workbook.xml', '<workbook/>')
    await damaged('_rels/.rels', '<Relationships/>')
    const encrypted = { name: sheet, content: '<worksheet/>', encrypted: true }
    await assertRefused(workbookOf({ sheets: { One: '' }, others: [encrypted] }), /is encrypted\. Save it without/)
    const outside =
      '<Relationships><Relationship Id="rId1" Type="/worksheet" Target="../../../secret.xml"/></Relationships>'
    await damaged('xl/_rels/workbook.xml.rels', outside)
    const wrongBytes = Buffer.from(book)
    const at = wrongBytes.indexOf('sheet1.xml') + 20
    wrongBytes.writeUInt8(wrongBytes.readUInt8(at) ^ 0xff, at)
    await assert.rejects(read(wrongBytes), { code: 'invalid_file' })
  })
})
