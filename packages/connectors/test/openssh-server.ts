import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from '../../../test/harness/programs.ts'

export type OpenSshServer = {
  readonly port: number
  readonly username: string
  /** Sends a signal to the processes of all sessions. */
  signal(name: NodeJS.Signals): void
  close(): Promise<void>
}

type Options = {
  /** Lines of its configuration, before those of this test. The first value of a setting counts. */
  readonly lines?: readonly string[]
  readonly port?: number
}

/**
 * Starts OpenSSH's server for the user who runs the tests, for SFTP alone. All that it needs lies in the directory.
 * Resolves with `undefined` where OpenSSH is not installed.
 */
export async function startOpenSsh(
  directory: string,
  hostKey: string,
  authorizedKeys: readonly string[],
  { lines = [], port: wantedPort }: Options = {},
): Promise<OpenSshServer | undefined> {
  const program = findProgram('sshd')
  if (!program) return undefined
  const port = wantedPort ?? (await freePort())
  const path = (name: string) => join(directory, name)
  await writeFile(path('host_key'), hostKey, { mode: 0o600 })
  await writeFile(path('authorized_keys'), `${authorizedKeys.join('\n')}\n`, { mode: 0o600 })
  await writeFile(
    path('sshd_config'),
    [
      ...lines,
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${path('host_key')}`,
      'PidFile none',
      `AuthorizedKeysFile ${path('authorized_keys')}`,
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin prohibit-password',
      'UsePAM no',
      'StrictModes no',
      'MaxStartups 100',
      'Subsystem sftp internal-sftp',
      'ForceCommand internal-sftp',
    ].join('\n'),
  )
  // Where root runs it, it locks itself into this directory; no daemon of the machine may have made it yet.
  if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
  const server = spawn(program, ['-D', '-e', '-f', path('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  await listening(server)
  return {
    port,
    username: userInfo().username,
    signal(name) {
      for (const pid of descendants(server.pid ?? 0)) process.kill(pid, name)
    },
    async close() {
      if (server.exitCode !== null) return
      for (const pid of descendants(server.pid ?? 0)) process.kill(pid, 'SIGKILL')
      const ended = once(server, 'exit')
      server.kill()
      await ended
    },
  }
}

/** The processes below a process. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}

async function listening(server: ChildProcess): Promise<void> {
  const lines: string[] = []
  const { stderr } = server
  if (!stderr) throw new Error('sshd has no stderr')
  for await (const line of createInterface({ input: stderr })) {
    lines.push(line)
    if (line.includes('Server listening')) {
      // Reads its log of sessions. Otherwise the server blocks.
      stderr.resume()
      return
    }
  }
  throw new Error(`sshd did not start:\n${lines.join('\n')}`)
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
