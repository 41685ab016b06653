import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Owner, run } from './command.ts'
import { exists, hasCode, makeDirectory, writeAtomically } from './files.ts'
import { isRoot, ownerOfData, ownerOfNewData } from './owner.ts'

/** Where root keeps files that PostgreSQL's own user could not reach elsewhere. */
export const systemDirectory = '/var/lib/penstock'

/** Where the files of a server are, and the user that runs it. */
export type ClusterPlace = { home: string; owner: Owner }

/** The name of the cluster's directory within its home. */
export const dataName = 'data'

const noteName = 'moved.txt'

/**
 * Finds the home of a directory's server: the directory itself, or, where the user who runs the server cannot enter it, a
 * folder under /var/lib/penstock that a note in the directory names. Decides it, and writes the note, the first time.
 * Call it under the directory's lock.
 */
export async function findPlace(directory: string): Promise<ClusterPlace> {
  const noted = await readNote(directory)
  const home = noted ?? directory
  if (!(await exists(home))) {
    throw new Error(
      `${join(directory, noteName)} says that the database is in ${home}, which is gone. Restore it from a backup, or delete that note to begin with an empty database.`,
    )
  }
  const data = join(home, dataName)
  const isNew = !(await exists(data))
  const owner = isNew ? await ownerOfNewData() : await ownerOfData(data)
  if (owner === undefined || (await canEnter(home, owner))) return { home, owner }
  if (noted === undefined && isNew) return { home: await moveAway(directory), owner }
  throw new Error(
    `The user with the id ${owner.uid}, who runs PostgreSQL, cannot enter ${home}, where its database is. Allow it to pass through that directory and each one above it (chmod o+x).`,
  )
}

/** The home that a note in the directory names, if there is one. */
export async function readNote(directory: string): Promise<string | undefined> {
  try {
    return (await readFile(join(directory, noteName), 'utf8')).trim().split('\n').at(-1)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Whether the owner can enter a path. The system answers this, since more than the mode decides. */
async function canEnter(path: string, owner: Owner): Promise<boolean> {
  return (await run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', path], owner)).code === 0
}

async function moveAway(directory: string): Promise<string> {
  if (!isRoot()) throw new Error(`Only root keeps the database of ${directory} elsewhere.`)
  await makeDirectory(systemDirectory, 0o755)
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 12)
  // A database under the plain name belongs to an earlier directory of this name. It is left alone, and not used again.
  let home = join(systemDirectory, hash)
  for (let count = 2; await exists(join(home, dataName)); count++) home = join(systemDirectory, `${hash}-${count}`)
  await makeDirectory(home, 0o711)
  const note = `PostgreSQL does not run as root, and the user it runs as cannot enter this directory.\nIts database is therefore in\n${home}\n`
  await writeAtomically(join(directory, noteName), note)
  return home
}
