import { posix } from 'node:path'
import { bounds, mebibytes, outOfBounds } from '../bounds.ts'
import type { FileStore, StoredFile } from '../store.ts'
import { damaged, refused, WorkbookDamage } from './damage.ts'
import { kindOfFormat, kindOfNumber, type NumberKind } from './number-formats.ts'
import { SharedTexts, unescaped } from './texts.ts'
import { attributeOf, isTrue, type OpenTag, readXml, type XmlHandler } from './xml.ts'
import { openZip, type Zip } from './zip.ts'

/** A sheet of a workbook that has rows, in the order of the workbook. */
export type WorkbookSheet = {
  readonly name: string
  /** Whether people do not see it. */
  readonly hidden: boolean
  /** The part with its rows. */
  readonly part: string
}

/** The parts of a workbook that its sheets need. */
export type Workbook = {
  readonly zip: Zip
  readonly sheets: readonly WorkbookSheet[]
  /** Whether days count from 1904 on. */
  readonly from1904: boolean
  /** Texts that cells share. */
  texts(): Promise<SharedTexts>
  /** How numbers are shown, by the number of a style. */
  styles(): Promise<readonly NumberKind[]>
}

type Relation = { readonly type: string; readonly part: string }

/**
 * Opens an Excel workbook (.xlsx, .xlsm), by ECMA-376. Reads the list of its sheets, and other parts when they are needed.
 * @throws a `ConnectorError`, `invalid_file`, if the file is damaged or not a workbook, and the errors of the store; so do its
 * functions
 */
export async function openWorkbook(store: FileStore, file: StoredFile, signal: AbortSignal): Promise<Workbook> {
  const zip = await openZip(store, file, signal)
  const parse = (part: string, open: (tag: OpenTag) => void) =>
    readPart(file, zip, part, { open, close() {}, text() {} })
  assertWorkbook(file, zip)
  const root = await relationsOf('', parse)
  const main = [...root.values()].find(({ type }) => type === 'officeDocument')?.part
  if (!main || !zip.has(main)) throw damaged(file, new WorkbookDamage('no workbook'))
  if (main.toLowerCase().endsWith('.bin')) {
    throw refused(file, 'is a binary Excel workbook (.xlsb), which is not supported. Save it as .xlsx.')
  }
  const relations = await relationsOf(main, parse)
  const sheets: WorkbookSheet[] = []
  let from1904 = false
  let isWorkbook = false
  await parse(main, (tag) => {
    if (tag.name === 'workbook') isWorkbook = true
    if (tag.name === 'workbookPr') from1904 = isTrue(attributeOf(tag, 'date1904'))
    if (tag.name !== 'sheet') return
    const relation = relations.get(tagId(tag) ?? '')
    const name = attributeOf(tag, 'name')
    if (name === undefined || sheets.length === bounds.workbook.parts)
      throw new WorkbookDamage('a sheet without a name')
    // Sheets of charts, dialogs and macros have no rows.
    if (relation?.type !== 'worksheet') return
    sheets.push({ name, hidden: /hidden/i.test(attributeOf(tag, 'state') ?? ''), part: relation.part })
  })
  if (!isWorkbook) throw refused(file, `is a document of another program, not an Excel workbook. ${readable}`)
  const partOf = (type: string) => [...relations.values()].find((relation) => relation.type === type)?.part
  let texts: SharedTexts | undefined
  let styles: readonly NumberKind[] | undefined
  return {
    zip,
    sheets,
    from1904,
    async texts() {
      const part = partOf('sharedStrings')
      texts ??= part ? await readTexts(file, zip, part) : new SharedTexts()
      return texts
    },
    async styles() {
      const part = partOf('styles')
      styles ??= part ? await readStyles(parse, part) : []
      return styles
    },
  }
}

const readable = 'Write the rows as CSV, JSON, Excel (.xlsx) or Parquet.'

function assertWorkbook(file: StoredFile, zip: Zip): void {
  if (zip.has('[Content_Types].xml') && zip.has('_rels/.rels')) return
  if (zip.has('content.xml') && zip.has('META-INF/manifest.xml')) {
    throw refused(file, 'is an OpenDocument file (.ods), which is not supported. Save it as .xlsx.')
  }
  throw refused(file, 'is a ZIP archive, not an Excel workbook. Unpack it, and store the files in it.')
}

type Parse = (part: string, open: (tag: OpenTag) => void) => Promise<void>

/** Reads a part to its end. */
async function readPart(file: StoredFile, zip: Zip, part: string, handler: XmlHandler): Promise<void> {
  try {
    for await (const _step of readXml(zip.read(part), handler)) void _step
  } catch (error) {
    throw error instanceof WorkbookDamage ? damaged(file, error) : error
  }
}

/** The identifier of a relation that a tag names. There is also an attribute `id` in another namespace, and `sheetId`. */
const tagId = ({ attributes }: OpenTag): string | undefined =>
  Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1]

/** The parts that a part refers to, by the identifiers of the relations. Relations to other files are omitted. */
async function relationsOf(part: string, parse: Parse): Promise<Map<string, Relation>> {
  const folder = posix.dirname(part)
  const relations = new Map<string, Relation>()
  await parse(posix.join(folder, '_rels', `${posix.basename(part)}.rels`), (tag) => {
    if (tag.name !== 'Relationship' || attributeOf(tag, 'TargetMode') === 'External') return
    const target = (attributeOf(tag, 'Target') ?? '').replaceAll('\\', '/')
    const type = (attributeOf(tag, 'Type') ?? '').split('/').at(-1) ?? ''
    if (relations.size === bounds.workbook.parts) throw new WorkbookDamage('too many relations')
    relations.set(attributeOf(tag, 'Id') ?? '', {
      type,
      part: target.startsWith('/') ? posix.normalize(target).slice(1) : posix.join(folder, target),
    })
  })
  return relations
}

async function readStyles(parse: Parse, part: string): Promise<NumberKind[]> {
  const formats = new Map<string, NumberKind>()
  const kinds: NumberKind[] = []
  let inCells = false
  await parse(part, (tag) => {
    if (tag.name === 'cellXfs') inCells = true
    // The styles of cells come before these, and the styles that people name before them.
    if (tag.name === 'cellStyles' || tag.name === 'dxfs') inCells = false
    if (formats.size + kinds.length > bounds.workbook.styles) throw new WorkbookDamage('too many styles')
    if (tag.name === 'numFmt' && !inCells) {
      formats.set(attributeOf(tag, 'numFmtId') ?? '', kindOfFormat(attributeOf(tag, 'formatCode') ?? ''))
    }
    if (tag.name !== 'xf' || !inCells) return
    const id = attributeOf(tag, 'numFmtId') ?? '0'
    kinds.push(formats.get(id) ?? kindOfNumber(Number(id)))
  })
  return kinds
}

/** Reads the shared texts. The parts of formatted texts are joined; Japanese phonetic readings are omitted. */
async function readTexts(file: StoredFile, zip: Zip, part: string): Promise<SharedTexts> {
  const texts = new SharedTexts()
  let inText = false
  let inReading = false
  let text = ''
  await readPart(file, zip, part, {
    open({ name }) {
      if (name === 'si') text = ''
      else if (name === 't') inText = !inReading
      else if (name === 'rPh') inReading = true
    },
    close(name) {
      if (name === 't') inText = false
      else if (name === 'rPh') inReading = false
      else if (name === 'si' && !texts.add(unescaped(text))) throw tooMuchText(file)
    },
    text(more) {
      if (!inText) return
      text += more
      if (text.length > bounds.cellBytes) throw tooMuchText(file)
    },
  })
  return texts
}

const tooMuchText = ({ name }: StoredFile) => {
  const { textBytes, texts } = bounds.workbook
  const says = `has more than ${mebibytes(textBytes)} of text, more than ${texts} texts, or a text of more than ${mebibytes(bounds.cellBytes)}`
  return outOfBounds('file_too_large', name, says, 'Save it as CSV.')
}
