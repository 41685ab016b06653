import { countOf, notAsManyRows } from '../kit/warehouse/loaded-rows.ts'
import { encodeValue } from '../object-stores/place.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import type { Databricks } from './databricks-api.ts'
import type { DatabricksTarget } from './target.ts'
import { quoteText } from './target-columns.ts'

const platform = 'Databricks'
const files = '/api/2.0/fs/files'
const directories = '/api/2.0/fs/directories'
/** Older notes are not needed any more. In milliseconds. */
const keptMs = 30 * 86_400_000

/** The rows of a group, and how they become rows of the table. */
type Appended = {
  /** The query that has them, with columns v0, v1 and so on. */
  readonly rows: string
  /** The columns of the table, made of these. */
  readonly select: string
  readonly accepted: number
}

/** The note on a group: the attempt whose files are loaded, and the number of rows once they are. */
type Note = { readonly attempt: number; readonly rows: number | undefined }

/**
 * Appends rows to a table exactly once per key, however often it is called. The rows are written as files to a folder of the
 * volume. A note next to it says which attempt's folder is valid. COPY INTO loads each file once, even if an earlier statement
 * is still running: one of the two fails with a conflict. The note stays for 30 days.
 */
export async function appendOnce(
  {
    databricks,
    target,
    key,
    attempt,
  }: { databricks: Databricks; target: DatabricksTarget; key: string; attempt: number },
  { rows, select, accepted }: Appended,
): Promise<void> {
  const folder = `${target.folder}/loads`
  const note = `${folder}/${key}.json`
  const foldersOf = (of: number) => `${folder}/${key}-${of}`
  let noted = await noteAt(databricks, note)
  if (noted === undefined) {
    const text = `insert overwrite directory ${quoteText(foldersOf(attempt))} using parquet ${rows}`
    await databricks.run({ ...target, text })
    const isFirst = await write(databricks, note, { attempt }, false)
    noted = isFirst ? { attempt, rows: undefined } : await noteAt(databricks, note)
  }
  if (noted === undefined) throw notAsManyRows(platform)
  if (noted.rows === undefined) {
    const from = foldersOf(noted.attempt)
    const text = `copy into ${target.name} from (select ${select} from ${quoteText(from)}) fileformat = parquet`
    const [counts = []] = await databricks.run({ ...target, text })
    const loaded = countOf(platform, String(counts[1] ?? counts[0] ?? ''))
    // 0 if they were loaded before the answer was lost.
    if (loaded !== accepted && loaded !== 0) throw notAsManyRows(platform)
    await write(databricks, note, { attempt: noted.attempt, rows: accepted }, true)
  } else if (noted.rows !== accepted) throw notAsManyRows(platform)
  for (let each = 1; each <= attempt; each++) await dropFolder(databricks, foldersOf(each))
}

/** Removes notes that no transfer asks for any more. Never throws. */
export async function forgetAppends(databricks: Databricks, { folder }: DatabricksTarget): Promise<void> {
  for (const { path, isDirectory, modifiedMs } of await entriesOf(databricks, `${folder}/loads`).catch(() => [])) {
    if (isDirectory || !path.endsWith('.json') || Date.now() - modifiedMs < keptMs) continue
    await databricks.ask({ path: addressOf(files, path), method: 'DELETE' }).catch(() => {})
  }
}

const addressOf = (api: string, path: string): string => `${api}${path.split('/').map(encodeValue).join('/')}`

async function noteAt(databricks: Databricks, path: string): Promise<Note | undefined> {
  const asked = { path: addressOf(files, path), expects: ({ status }: { status: number }) => status === 404 }
  const { status, json } = await databricks.ask(asked)
  const attempt = numberIn(objectIn(json).attempt)
  return status === 404 || attempt === undefined ? undefined : { attempt, rows: numberIn(objectIn(json).rows) }
}

/** Writes a note. @returns false if there is one, and it must not be replaced */
async function write(databricks: Databricks, path: string, note: object, overwrite: boolean): Promise<boolean> {
  const { status } = await databricks.ask({
    path: `${addressOf(files, path)}?overwrite=${overwrite}`,
    method: 'PUT',
    body: JSON.stringify(note),
    headers: { 'content-type': 'application/octet-stream' },
    repeatable: overwrite,
    expects: (answer) => answer.status === 409 && !overwrite,
  })
  return status !== 409
}

/** The direct entries of a folder. Empty if the folder does not exist. */
async function entriesOf(databricks: Databricks, folder: string) {
  const found: { readonly path: string; readonly isDirectory: boolean; readonly modifiedMs: number }[] = []
  let next: string | undefined
  do {
    const { status, json } = await databricks.ask({
      path: addressOf(directories, folder),
      query: { page_token: next },
      expects: (answer) => answer.status === 404,
    })
    if (status === 404) return found
    for (const each of listIn(objectIn(json).contents).filter(isObject)) {
      const path = textIn(each.path)
      const modifiedMs = numberIn(each.last_modified) ?? Date.now()
      if (path?.startsWith(`${folder}/`)) found.push({ path, isDirectory: each.is_directory === true, modifiedMs })
    }
    next = textIn(objectIn(json).next_page_token)
  } while (next !== undefined && next !== '')
  return found
}

/** Removes the files of a folder. Never throws, because remaining files are never loaded again. */
async function dropFolder(databricks: Databricks, folder: string): Promise<void> {
  try {
    const found = await entriesOf(databricks, folder)
    if (found.length === 0) return
    for (const { path } of found) await databricks.ask({ path: addressOf(files, path), method: 'DELETE' })
    await databricks.ask({ path: addressOf(directories, folder), method: 'DELETE' })
  } catch {
    // The folder belongs to the volume's owner, who can empty it.
  }
}
