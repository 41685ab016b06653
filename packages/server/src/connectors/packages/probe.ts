import { fork } from 'node:child_process'
import { errorOfDefinition, type WrittenDefinition } from '@penstock/connectors/installed'
import { probeProgram } from '../../places.ts'
import { environmentOfRunners, permissionFlags, type RunnerUser } from '../../runners/permissions.ts'

/** Time limit for loading a definition, in milliseconds, and memory limit, in MiB. */
const deadlineMs = 20_000
const heapMb = 256
/** Characters of a definition as JSON. */
const lengthMax = 4_000_000

/** A package cannot be added. The message says why, and what its author or the operator can do. */
export class PackageRefused extends Error {
  override readonly name = 'PackageRefused'
}

/** A package whose definition is requested. */
export type Probed = {
  /** The folder that has all its modules. */
  readonly code: string
  /** The folder of the package, the same or below. */
  readonly root: string
  /** The user that its code runs as. If undefined, the caller's user. */
  readonly user: RunnerUser | undefined
}

/**
 * Asks the code of a package for its definition, in a process with the walls of a runner: it reads its own folder, and is killed after 20
 * seconds.
 * @throws PackageRefused with the reason
 */
export async function probe({ code, root, user }: Probed): Promise<WrittenDefinition> {
  const child = fork(probeProgram, [code, root], {
    ...user,
    cwd: '/',
    env: environmentOfRunners(undefined),
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      ...permissionFlags({ localFolders: [], connectorsFolder: code }, undefined),
    ],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  })
  const answer = await new Promise<{ definition?: unknown; refusal?: unknown } | undefined>((resolve) => {
    child.on('message', (message: object) => resolve(message))
    child.on('error', () => resolve(undefined))
    child.on('exit', () => resolve(undefined))
  })
  child.kill('SIGKILL')
  if (typeof answer?.refusal === 'string') throw new PackageRefused(`The package cannot be added: ${answer.refusal}.`)
  const text = answer?.definition
  if (typeof text !== 'string' || text.length > lengthMax) {
    throw new PackageRefused(
      `The package cannot be added: its definition did not load within ${deadlineMs / 1000} seconds, or its process ended. A definition must load immediately, without network, files or processes.`,
    )
  }
  const definition: unknown = JSON.parse(text)
  const wrong = errorOfDefinition(definition)
  if (wrong !== undefined) throw new PackageRefused(`The package cannot be added: its definition is wrong: ${wrong}.`)
  return definition as WrittenDefinition
}
