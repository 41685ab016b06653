import { crc32, deflateRawSync } from 'node:zlib'

/** A part of a ZIP file. */
export type ZipPart = {
  readonly name: string
  readonly content: string | Buffer
  /** Declared as encrypted, although it is not. */
  readonly encrypted?: boolean
  /** The size that the directory claims; the real one by default. */
  readonly claimed?: number
}

/** Writes a ZIP file with the parts in their order, so that tests can make workbooks that no program writes. */
export function zipOf(parts: readonly ZipPart[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, encrypted = false, claimed } of parts) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(encrypted ? 1 : 0, 2)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(bytes), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(claimed ?? bytes.length, 18)
    fields.writeUInt16LE(Buffer.byteLength(name), 22)
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, rest, Buffer.from(name)]))
    bodies.push(body)
    offset += body.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, entries, end])
}

/** Parts of a workbook. Omitted parts are as most programs write them. */
export type WorkbookParts = {
  /** The elements of `sheetData` of each sheet, by the name of the sheet. */
  readonly sheets: Readonly<Record<string, string>>
  /** Attributes of the sheets, such as `state="hidden"`. */
  readonly states?: Readonly<Record<string, string>>
  readonly texts?: readonly string[]
  /** Texts of formats. The style with the number 1 uses the first one. */
  readonly formats?: readonly string[]
  readonly properties?: string
  /** Parts that replace these, or are added. */
  readonly others?: readonly ZipPart[]
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

/** Writes a workbook. */
export function workbookOf({ sheets, states = {}, texts, formats = [], properties = '', others = [] }: WorkbookParts) {
  const names = Object.keys(sheets)
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`
  const relations = (inner: string) => `${head}<Relationships xmlns="r">${inner}</Relationships>`
  const parts: ZipPart[] = [
    { name: '[Content_Types].xml', content: `${head}<Types xmlns="t"/>` },
    { name: '_rels/.rels', content: relations(relation('rId1', 'officeDocument', 'xl/workbook.xml')) },
    {
      name: 'xl/workbook.xml',
      content: `${head}<workbook ${main} xmlns:r="${office}"><workbookPr ${properties}/><sheets>${names
        .map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" ${states[name] ?? ''} r:id="rId${at + 1}"/>`)
        .join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relations(
        names.map((_, at) => relation(`rId${at + 1}`, 'worksheet', `worksheets/sheet${at + 1}.xml`)).join('') +
          relation('rIdS', 'styles', 'styles.xml') +
          (texts ? relation('rIdT', 'sharedStrings', '/xl/sharedStrings.xml') : ''),
      ),
    },
    {
      name: 'xl/styles.xml',
      content: `${head}<styleSheet ${main}><numFmts>${formats
        .map((code, at) => `<numFmt numFmtId="${164 + at}" formatCode="${code.replaceAll('"', '&quot;')}"/>`)
        .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats
        .map((_, at) => `<xf numFmtId="${164 + at}"/>`)
        .join('')}</cellXfs></styleSheet>`,
    },
    ...(texts ? [{ name: 'xl/sharedStrings.xml', content: `${head}<sst ${main}>${texts.join('')}</sst>` }] : []),
    ...names.map((name, at) => ({
      name: `xl/worksheets/sheet${at + 1}.xml`,
      content: `${head}<worksheet ${main}><sheetData>${sheets[name]}</sheetData></worksheet>`,
    })),
  ]
  const replaced = new Set(others.map(({ name }) => name))
  return zipOf([...parts.filter(({ name }) => !replaced.has(name)), ...others])
}
