import { boolean, type Fields, number, select, text } from '../fields.ts'
import type { Values } from '../values.ts'
import type { WriteOptions } from './encoder.ts'
import { encodings } from './encoding.ts'
import { type BinaryForm, binaryForms, type FileFormat, readFormats, type WriteFormat, writeFormats } from './format.ts'
import type { ReadOptions } from './read.ts'

/** Which files a transfer reads: a setting of every source that can have files come and go. */
const filesToRead = {
  filesToRead: select({
    label: 'Files to read',
    description:
      'Whether each transfer reads all files, or only files that are new, or that have another size or version since a transfer read them. A file counts as read once the destination has confirmed its rows; a changed file is read whole',
    options: ['All', 'New'],
    labels: { All: 'All files', New: 'New and changed files' },
    default: 'All',
  }),
} satisfies Fields

/** How files are to be read: settings that every source of files has. */
export const formatFields = {
  format: select({
    label: 'Format',
    description:
      'Format of the files; auto finds it in the content of each file. NDJSON also stands for other JSON: an array of objects, or objects over several lines',
    options: readFormats,
    default: 'auto',
  }),
  encoding: select({
    label: 'Encoding',
    description:
      'How CSV and NDJSON files are encoded; auto means UTF-8 unless a file begins with a byte order mark of UTF-16. Use windows-1252 for ISO-8859-1 too',
    options: ['auto', ...encodings],
    labels: { auto: 'Detect' },
    default: 'auto',
  }),
  delimiter: select({
    label: 'Delimiter',
    description: 'Character between the values of a CSV file; auto finds it in the first lines',
    options: ['auto', 'comma', 'semicolon', 'tab', 'pipe'],
    labels: { auto: 'Detect' },
    default: 'auto',
  }),
  skipLines: number({
    label: 'Lines to skip',
    description:
      'Number of lines of a CSV file before the line with the names of the columns, or before the first record',
    min: 0,
    max: 1_000,
    when: { format: ['auto', 'CSV'] },
  }),
  columnNames: text({
    label: 'Column names',
    description:
      'Names of the columns of CSV files without a line of names, separated by commas: id,email,country. The first line is then a record',
    when: { format: ['auto', 'CSV'] },
  }),
  sheet: text({
    label: 'Sheet or table',
    description:
      'Name of the sheet of an Excel workbook, by default the first one that is not hidden; or of the table of a DuckDB database, with its schema if that is not main',
    when: { format: ['auto', 'Excel', 'DuckDB'] },
  }),
  headerRow: number({
    label: 'Header row',
    description:
      'Number of the row of an Excel sheet that has the names of the columns; by default the first row that has a value',
    min: 1,
    max: 1_048_576,
    when: { format: ['auto', 'Excel'] },
  }),
} satisfies Fields

/** The settings of a source in which files come and go. */
export const readFields = { ...filesToRead, ...formatFields } satisfies Fields

/** How a file is to be written: settings that every destination of files has. */
export const writeFields = {
  fileFormat: select({
    label: 'File format',
    description: 'Format of the file',
    options: writeFormats,
    default: 'CSV',
  }),
  gzip: boolean({
    label: 'Compress with gzip',
    description: 'Whether CSV and NDJSON files are compressed; Parquet files are always compressed internally',
    default: false,
  }),
  columnTypes: boolean({
    label: 'Column types',
    description:
      'Whether the columns of a Parquet file have the types that the source declares: numbers, decimals, dates, times, JSON, bytes. Otherwise all are text',
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
    description:
      'Whether a transfer of many files writes several files, one for each part of the source, so that workers share it; otherwise it writes one',
    default: false,
  }),
} satisfies Fields

/** The values of `readFields` among settings, as `readFiles` takes them. */
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

/** The values of `writeFields` among settings, as `writeFiles` takes them. */
export const writeOptionsOf = ({ fileFormat, gzip, columnTypes, binaryForm }: Values): WriteOptions => ({
  format: writeFormats.find((each) => each === fileFormat) ?? ('CSV' satisfies WriteFormat),
  gzip: gzip === true,
  typed: columnTypes !== false,
  binary: binaryForms.find((each) => each === binaryForm) ?? ('Hexadecimal' satisfies BinaryForm),
})
