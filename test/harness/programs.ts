import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The programs that some tests need and that no npm package contains. Tests that need a missing one are skipped. */
const programs = {
  // The headless shell first: it draws the same pages with about half of the processor time.
  chromium: {
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    package: 'chromium-headless-shell',
  },
  caddy: { names: ['caddy'], package: 'caddy' },
  go: { names: ['go'], package: 'golang-go golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev' },
  kcat: { names: ['kcat', 'kafkacat'], package: 'kcat' },
  promtool: { names: ['promtool'], package: 'prometheus' },
  'systemd-analyze': { names: ['systemd-analyze'], package: 'systemd' },
  pgbouncer: { names: ['pgbouncer'], package: 'pgbouncer' },
  mariadbd: { names: ['mariadbd'], package: 'mariadb-server' },
  tinyproxy: { names: ['tinyproxy'], package: 'tinyproxy-bin' },
  microsocks: { names: ['microsocks'], package: 'microsocks' },
  sshd: { names: ['sshd'], package: 'openssh-server' },
  buildah: { names: ['buildah'], package: 'buildah' },
  mmdebstrap: { names: ['mmdebstrap'], package: 'mmdebstrap' },
} as const

export type ProgramName = keyof typeof programs

/** The variable that names programs, separated by commas, that the tests must treat as not installed. */
export const hideVariable = 'PENSTOCK_TEST_HIDE'

/** Directories in which daemons are installed. Not every user has them on PATH. */
const systemDirectories = ['/usr/sbin', '/usr/local/sbin']

/**
 * Returns the absolute path of a program, from PENSTOCK_TEST_<NAME>, PATH or the directories of daemons. `undefined` if it is
 * not installed or is hidden. Throws if PENSTOCK_TEST_HIDE names a program that no test looks for.
 */
export function findProgram(name: ProgramName): string | undefined {
  if (hiddenPrograms().includes(name)) return undefined
  const directories = [...(process.env.PATH ?? '').split(delimiter), ...systemDirectories]
  const installed = programs[name].names.flatMap((file) => directories.map((directory) => join(directory, file)))
  return [process.env[`PENSTOCK_TEST_${name.toUpperCase().replaceAll('-', '_')}`], ...installed].find(
    (path) => path && isExecutable(path),
  )
}

/** Returns the reason to skip a test that needs the program, `false` where the program is there. */
export function skipWithout(name: ProgramName): string | false {
  if (findProgram(name)) return false
  if (hiddenPrograms().includes(name)) return `${name} is hidden by ${hideVariable}`
  return `${name} is not installed. On Debian: apt-get install ${programs[name].package}`
}

/** Returns the names in PENSTOCK_TEST_HIDE. Throws if one is unknown. */
export function hiddenPrograms(): ProgramName[] {
  const names = (process.env[hideVariable] ?? '').split(',').filter((name) => name !== '')
  const unknown = names.filter((name) => !Object.hasOwn(programs, name))
  if (unknown.length > 0) {
    throw new Error(`${hideVariable} names ${unknown.join(', ')}. It takes ${Object.keys(programs).join(', ')}.`)
  }
  return names as ProgramName[]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
