import { readFileSync } from 'node:fs'

/** The word that a deployment writes for the ID of its container. */
const placeholder = 'CONTAINER'
const commands =
  /\bpenstock (?=(?:serve|worker|migrate|doctor|backup|restore|schedules|transfer|org|client|user|account|audit|oauth-app|connector|export|plan|apply|import-source|connection|person|key|identity-key|mcp|help)\b)/g

/** The process that prints a hint. */
export type PrintingProcess = {
  readonly env: { readonly PENSTOCK_COMMAND?: string | undefined }
  readonly pid: number
  readonly ppid: number
  /** The arguments of Penstock. */
  readonly args: readonly string[]
  /** The mounts of the process, as Linux lists them. Throws if the system does not list them. */
  readonly mounts: () => string
}

const thisProcess: PrintingProcess = {
  env: process.env,
  pid: process.pid,
  ppid: process.ppid,
  args: process.argv.slice(2),
  mounts: () => readFileSync('/proc/self/mountinfo', 'utf8'),
}

/**
 * The command that a person types to run Penstock on the machine of this process. A deployment sets it in PENSTOCK_COMMAND, in which
 * CONTAINER becomes the ID of the container that runs now. Otherwise Penstock runs from a clone or from the package of npm; both have the
 * program `penstock-server`. The npm package `penstock` belongs to someone else.
 */
export function ownCommand(by: PrintingProcess = thisProcess): string {
  const command = by.env.PENSTOCK_COMMAND || 'npx penstock-server'
  if (!command.includes(placeholder) || endsWithItsCommand(by)) return command
  return command.replaceAll(placeholder, containerId(by) ?? placeholder)
}

/** Whether the container runs only this command, and ends before someone can type another one in it. */
const endsWithItsCommand = ({ pid, ppid, args: [name = 'serve'] }: PrintingProcess): boolean =>
  (pid === 1 || ppid === 1) && name !== 'serve' && name !== 'worker'

/** Docker and Podman mount these files from a folder that has the ID as its name. */
function containerId({ mounts }: PrintingProcess): string | undefined {
  try {
    return /\/([0-9a-f]{12})[0-9a-f]{52}\/(?:userdata\/)?(?:hostname|hosts|resolv\.conf) /.exec(mounts())?.[1]
  } catch {
    return undefined
  }
}

let own: { readonly setting: string | undefined; readonly command: string } | undefined

function ownCommandOnce(): string {
  const setting = process.env.PENSTOCK_COMMAND
  if (own?.setting !== setting || own === undefined) own = { setting, command: ownCommand() }
  return own.command
}

/** A text for the operator, with its commands as they are typed on this machine. */
export const asTyped = (text: string): string => text.replace(commands, () => `${ownCommandOnce()} `)

/** The same in a line of JSON. */
export const asTypedInJson = (line: string): string =>
  line.includes('penstock ') ? line.replace(commands, () => `${JSON.stringify(ownCommandOnce()).slice(1, -1)} `) : line
