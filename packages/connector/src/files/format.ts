import type { DestinationContext } from '../destination.ts'

/** What a file holds, as settings name it; `auto` goes by the name of the file. */
export const readFormats = ['auto', 'CSV', 'NDJSON', 'Parquet'] as const
export type FileFormat = (typeof readFormats)[number]

export const writeFormats = ['CSV', 'NDJSON', 'Parquet'] as const
export type WriteFormat = (typeof writeFormats)[number]

const extensions: Readonly<Record<string, WriteFormat>> = {
  csv: 'CSV',
  tsv: 'CSV',
  txt: 'CSV',
  ndjson: 'NDJSON',
  jsonl: 'NDJSON',
  parquet: 'Parquet',
}

/** The format of a file: what was chosen, else what its name ends with, before a `.gz`, else CSV. */
export function formatOf(name: string, chosen: FileFormat): WriteFormat {
  if (chosen !== 'auto') return chosen
  const extension = /\.([a-z0-9]+)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return (Object.hasOwn(extensions, extension) && extensions[extension]) || 'CSV'
}

/** What the name of a written file ends with, without the first dot: `csv`, `ndjson.gz`. Parquet is compressed inside. */
export function extensionOf(format: WriteFormat, gzip: boolean): string {
  return gzip && format !== 'Parquet' ? `${format.toLowerCase()}.gz` : format.toLowerCase()
}

/**
 * The name of the file that a transfer writes, `20260131T120000Z-<transferId>.csv`: the same after a crash, and in the
 * order of time where files are listed by name.
 */
export function fileNameOf(context: Pick<DestinationContext, 'startedTime' | 'transferId'>, extension: string): string {
  const time = new Date(context.startedTime).toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${context.transferId}.${extension}`
}
