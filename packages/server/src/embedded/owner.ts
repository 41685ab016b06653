import { stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { type Owner, run } from './command.ts'

const systemUser = 'postgres'

/** Whether this process runs as root, which PostgreSQL refuses to. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * User that runs a server with existing data: the owner of the data, as PostgreSQL requires. Rejects if this process
 * cannot act as that user.
 */
export async function ownerOfData(data: string): Promise<Owner> {
  const { uid, gid } = await stat(data)
  if (uid === process.getuid?.()) {
    if (uid !== 0) return undefined
    throw new Error(
      `The database in ${data} belongs to root, and PostgreSQL does not run as root. Give it to another user, for example with: chown -R ${systemUser} '${data}'`,
    )
  }
  if (isRoot()) return { uid, gid }
  throw new Error(
    `The database in ${data} belongs to the user with the id ${uid}. Start Penstock as that user, or as root if it was first started as root.`,
  )
}

/**
 * User that runs a new server: the current user, or instead of root the system user `postgres`, which is created if it
 * is missing.
 */
export async function ownerOfNewData(): Promise<Owner> {
  if (isRoot()) return (await lookUp(systemUser)) ?? (await createSystemUser())
  try {
    userInfo()
  } catch (error) {
    throw new Error(
      `The user id ${process.getuid?.()} has no name on this machine, and PostgreSQL does not run without one. Add it to /etc/passwd, or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause: error },
    )
  }
  return undefined
}

async function lookUp(name: string): Promise<Owner> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name], undefined), run('id', ['-g', name], undefined)])
  if (uid.code !== 0 || gid.code !== 0) return undefined
  return { uid: Number(uid.output), gid: Number(gid.output) }
}

async function createSystemUser(): Promise<Owner> {
  const home = ['--home', '/nonexistent', '--no-create-home']
  const commands = [
    { program: 'useradd', args: ['--system', '--user-group', ...home, '--shell', '/usr/sbin/nologin', systemUser] },
    { program: 'adduser', args: ['--system', ...home, systemUser] },
  ]
  const failures: string[] = []
  for (const { program, args } of commands) {
    const { code, output } = await run(program, args, undefined)
    const owner = await lookUp(systemUser)
    if (owner) return owner
    failures.push(`${program}: ${output || `exit code ${code}`}`)
  }
  throw new Error(
    `PostgreSQL does not run as root, and the user ${systemUser} could not be created (${failures.join('; ')}). Create it, start Penstock as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own.`,
  )
}
