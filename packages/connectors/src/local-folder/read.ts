import { constants } from 'node:fs'
import { type FileHandle, open as openFile, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ConnectorError } from '@penstock/connector'
import { type FileStore, nameMatcher, type StoredFile } from '@penstock/connector/files'
import { fileReading } from '../object-stores/file-store.ts'
import { asDiskError } from './disk-error.ts'
import { folderOf, followWithin, namesIn } from './paths.ts'

export const { open, discoverColumns, discoverWorkbook } = fileReading(async (context) =>
  storeOf(await folderOf(context), String(context.settings.files ?? '')),
)

const pieceBytes = 1 << 18
const filesMax = 100_000

function storeOf(folder: string, pattern: string): FileStore {
  const names = namesIn(pattern, 'The name of the files')
  return {
    async list() {
      const files: StoredFile[] = []
      for (const path of await pathsOf(folder, names)) {
        try {
          const real = await followWithin(folder, path)
          const found = await stat(real, { bigint: true })
          if (found.isFile()) files.push({ name: relative(folder, path), ...versionOf(found) })
        } catch (error) {
          throw asDiskError(error, relative(folder, path))
        }
      }
      if (files.length > 0) return files
      const message = `No file in the folder is called ${names.join('/')}. Name one that is there, or a pattern such as *.csv.`
      throw new ConnectorError('object_not_found', message)
    },
    read: (file, fromByte) => readBytes(folder, file, fromByte),
  }
}

async function* readBytes(folder: string, file: StoredFile, fromByte: number): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | undefined
  try {
    const path = await followWithin(folder, join(folder, file.name))
    handle = await openFile(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    await assertSame(handle, file)
    // A file that grows meanwhile is read no further than it went when it was listed.
    for (let at = fromByte; at < file.sizeBytes; ) {
      const bytes = Buffer.allocUnsafeSlow(Math.min(pieceBytes, file.sizeBytes - at))
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, at)
      if (bytesRead === 0) throw changed(file)
      at += bytesRead
      if (at >= file.sizeBytes) await assertSame(handle, file)
      yield bytes.subarray(0, bytesRead)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw changed(file)
    throw asDiskError(error, file.name)
  } finally {
    await handle?.close().catch(() => {})
  }
}

type BigStat = { readonly size: bigint; readonly mtimeNs: bigint; readonly ino: bigint }

const versionOf = ({ size, mtimeNs, ino }: BigStat) => ({
  sizeBytes: Number(size),
  version: `${mtimeNs}-${size}-${ino}`,
})

async function assertSame(handle: FileHandle, file: StoredFile): Promise<void> {
  if (versionOf(await handle.stat({ bigint: true })).version !== file.version) throw changed(file)
}

const changed = ({ name }: StoredFile) =>
  new ConnectorError(
    'source_changed',
    `${name} was removed or changed while it was read. Start a new transfer, which reads it from the beginning.`,
  )

/** The paths that match a pattern, name by name. A `*` does not match the dot of a hidden file. */
async function pathsOf(folder: string, names: readonly string[]): Promise<string[]> {
  let paths = [folder]
  for (const name of names) {
    const next: string[] = []
    for (const path of paths) {
      if (!name.includes('*')) {
        next.push(join(path, name))
        continue
      }
      const fits = matcherOf(name)
      for (const found of await namesUnder(folder, path)) if (fits(found)) next.push(join(path, found))
      if (next.length > filesMax) {
        const message = `More than ${filesMax} files fit the pattern. Choose a narrower one.`
        throw new ConnectorError('too_many_files', message)
      }
    }
    paths = next
  }
  const there: string[] = []
  for (const path of paths) if (await exists(path)) there.push(path)
  return there
}

async function namesUnder(folder: string, path: string): Promise<string[]> {
  try {
    return await readdir(await followWithin(folder, path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw asDiskError(error, relative(folder, path) || 'The folder')
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw asDiskError(error, 'A file that fits the name')
  }
}

function matcherOf(pattern: string): (name: string) => boolean {
  const fits = nameMatcher(pattern)
  const hidden = pattern.startsWith('.')
  return (name) => (hidden || !name.startsWith('.')) && fits(name)
}
