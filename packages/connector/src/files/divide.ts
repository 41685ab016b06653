import type { Json } from '../rows.ts'
import type { Division, DivisionBounds } from '../source.ts'
import type { StoredFile } from './store.ts'

/** Files in parts: each part has some files that follow each other by name. */

type FileKey = [string, number, string]

/** The files of a part, by the key from `divideFiles`. */
export const filesOfPart = (key: Json): readonly StoredFile[] =>
  (isFirstPart(key) ? (key as { first: FileKey[] }).first : (key as FileKey[])).map(([name, sizeBytes, version]) => ({
    name,
    sizeBytes,
    version,
  }))

/** Whether the cursor of this part keeps the files that earlier transfers have read. */
export const isFirstPart = (key: Json | undefined): boolean =>
  typeof key === 'object' && key !== null && !Array.isArray(key)

const keyOf = (files: readonly StoredFile[]): Json =>
  files.map(({ name, sizeBytes, version }) => [name, sizeBytes, version])

/**
 * Divides files into parts of similar size. Only the last part can be small.
 * @param files in the order of their names
 * @param columns finds the columns of all files
 * @param marksFirst whether the first part keeps the cursor of earlier transfers (`isFirstPart`)
 * @returns `undefined` if there is only one part
 */
export function divideFiles(
  files: readonly StoredFile[],
  { bytesMin, partsMax }: DivisionBounds,
  columns: Division['columns'],
  marksFirst = false,
): Division | undefined {
  const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const bytesEnough = Math.max(bytesMin, total / partsMax)
  const filesEnough = Math.ceil(files.length / partsMax)
  const groups: { files: StoredFile[]; bytes: number }[] = []
  for (const file of files) {
    const last = groups.at(-1)
    if (!last || (last.bytes >= bytesEnough && last.files.length >= filesEnough)) {
      groups.push({ files: [file], bytes: file.sizeBytes })
    } else {
      last.files.push(file)
      last.bytes += file.sizeBytes
    }
  }
  if (groups.length < 2) return undefined
  const parts = groups.map((group, at) => ({
    key: marksFirst && at === 0 ? { first: keyOf(group.files) } : keyOf(group.files),
    name: nameOf(group.files),
    share: total === 0 ? 1 / groups.length : group.bytes / total,
  }))
  return { parts, columns }
}

function nameOf(files: readonly StoredFile[]): string {
  const [first, last] = [files[0]?.name ?? '', files.at(-1)?.name ?? '']
  return files.length === 1 ? first : `${first} to ${last}`
}
