import { boolean, type Fields, number, select, text } from '../fields.ts'
import type { Values } from '../values.ts'
import type { WriteOptions } from './encoder.ts'
import { encodings } from './encoding.ts'
import { type BinaryForm, binaryForms, type FileFormat, readFormats, type WriteFormat, writeFormats } from './format.ts'
import type { ReadOptions } from './read.ts'

/** The choice of the files that a transfer reads: a setting of every source whose files can change. */
const filesToRead = {
  filesToRead: select({
    label: 'Files to read',
    description: 'All files, or only files that are new or changed since they were last read',
    options: ['All', 'New'],
    labels: { All: 'All files', New: 'New and changed files' },
    meanings: { All: 'all', New: 'new' },
    asked: true,
    default: 'All',
  }),
} satisfies Fields

/** How to read files: settings of every file source. */
export const formatFields = {
  format: select({
    label: 'Format',
    description: 'Format of the files. Detection looks at each file. NDJSON includes all other JSON',
    options: readFormats,
    labels: { auto: 'Detect' },
    default: 'auto',
  }),
  encoding: select({
    label: 'Encoding',
    description: 'Encoding of CSV and NDJSON files. Detection finds UTF-8, and UTF-16 with a byte order mark',
    options: ['auto', ...encodings],
    labels: {
      auto: 'Detect',
      'utf-8': 'UTF-8',
      'utf-16le': 'UTF-16, little-endian',
      'utf-16be': 'UTF-16, big-endian',
      'windows-1252': 'Windows-1252',
    },
    default: 'auto',
  }),
  delimiter: select({
    label: 'Delimiter',
    description: 'Character between the values of a CSV file. Detection looks at the first lines',
    options: ['auto', 'comma', 'semicolon', 'tab', 'pipe'],
    labels: { auto: 'Detect', comma: 'Comma', semicolon: 'Semicolon', tab: 'Tab', pipe: 'Pipe' },
    default: 'auto',
  }),
  skipLines: number({
    label: 'Lines to skip',
    description: 'Lines of a CSV file before the column names, or before the first record',
    min: 0,
    max: 1_000,
    when: { format: ['auto', 'CSV'] },
  }),
  columnNames: text({
    label: 'Column names',
    description: 'Column names for CSV files without a header, separated by commas: id,email,country',
    when: { format: ['auto', 'CSV'] },
  }),
  sheet: text({
    label: 'Sheet or table',
    description: 'Sheet of an Excel workbook, by default the first visible one, or table of a DuckDB file',
    when: { format: ['auto', 'Excel', 'DuckDB'] },
  }),
  headerRow: number({
    label: 'Header row',
    description: 'Row of an Excel sheet with the column names. By default the first row with a value',
    min: 1,
    max: 1_048_576,
    when: { format: ['auto', 'Excel'] },
  }),
} satisfies Fields

/** The settings of a source whose files can change. */
export const readFields = { ...filesToRead, ...formatFields } satisfies Fields

/** How to write a file: settings of every file destination. */
export const writeFields = {
  fileFormat: select({
    label: 'File format',
    description: 'Format of the file',
    options: writeFormats,
    default: 'CSV',
  }),
  gzip: boolean({
    keepsState: 'transport',
    label: 'Compress with gzip',
    description: 'Compress CSV and NDJSON files. Parquet compresses its own data',
    default: false,
  }),
  columnTypes: boolean({
    label: 'Column types',
    description: 'Write Parquet columns with the types of the source. Otherwise all columns are text',
    default: true,
    when: { fileFormat: ['Parquet'] },
  }),
  binaryForm: select({
    label: 'Binary values',
    description: 'How bytes are written in CSV and NDJSON files: \\x and hexadecimal digits, or Base64',
    options: binaryForms,
    default: 'Hexadecimal',
    when: { fileFormat: ['CSV', 'NDJSON'] },
  }),
  severalFiles: boolean({
    label: 'Several files',
    description: 'Write several files, so that workers can share a transfer. Otherwise one file',
    default: false,
  }),
} satisfies Fields

/** The values of `readFields` in settings, for `readFiles`. */
export const readOptionsOf = ({
  format,
  encoding,
  delimiter,
  skipLines,
  columnNames,
  sheet,
  headerRow,
  filesToRead: which,
}: Values): ReadOptions => ({
  divides: true,
  onlyNew: which === 'New',
  format: readFormats.find((each) => each === format) ?? ('auto' satisfies FileFormat),
  ...(typeof encoding === 'string' ? { encoding } : {}),
  ...(typeof delimiter === 'string' ? { delimiter } : {}),
  ...(typeof skipLines === 'number' && skipLines > 0 ? { skipLines } : {}),
  ...(typeof columnNames === 'string' && columnNames.trim() !== ''
    ? { columns: columnNames.split(',').map((name) => name.trim()) }
    : {}),
  excel: {
    ...(typeof sheet === 'string' ? { sheet } : {}),
    ...(typeof headerRow === 'number' ? { headerRow } : {}),
  },
})

/** The values of `writeFields` in settings, for `writeFiles`. */
export const writeOptionsOf = ({ fileFormat, gzip, columnTypes, binaryForm }: Values): WriteOptions => ({
  format: writeFormats.find((each) => each === fileFormat) ?? ('CSV' satisfies WriteFormat),
  gzip: gzip === true,
  typed: columnTypes !== false,
  binary: binaryForms.find((each) => each === binaryForm) ?? ('Hexadecimal' satisfies BinaryForm),
})
