import { readdirSync, readFileSync } from 'node:fs'

/** A process as Linux shows it. */
type Seen = { readonly pid: number; readonly parent: number; readonly session: number; readonly bytes: number }

const pageBytes = 4096

/** All processes of the machine. Empty on other systems than Linux. */
function processesOf(): Seen[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // The name of the program, in brackets, can contain any character.
      const [, text = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${name}/stat`, 'latin1')) ?? []
      const fields = text.split(' ')
      const [state] = fields
      if (state === 'Z' || state === 'X') return []
      return [
        {
          pid: Number(name),
          parent: Number(fields[1]),
          session: Number(fields[3]),
          bytes: Number(fields[21]) * pageBytes,
        },
      ]
    } catch {
      return []
    }
  })
}

/**
 * The processes of one program: the processes of its session, and all processes that one of them was ever seen to start, even
 * in separate sessions. On other systems than Linux, only its group is known.
 */
export class ProcessTree {
  readonly #leader: number
  readonly #known = new Set<number>()

  /** @param leader the process that leads the session */
  constructor(leader: number) {
    this.#leader = leader
    this.#known.add(leader)
  }

  /** How many there are, and how much memory they have, in bytes. */
  look(): { readonly count: number; readonly bytes: number } {
    const found = this.#find()
    return { count: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  /** Kills all of them. It first stops each, so that no process starts another one meanwhile. */
  kill(): void {
    const signal = (pid: number, name: NodeJS.Signals) => {
      try {
        process.kill(pid, name)
      } catch {
        // It is gone.
      }
    }
    signal(-this.#leader, 'SIGSTOP')
    for (let round = 0; round < 20; round++) {
      const found = this.#find()
      for (const { pid } of found) signal(pid, 'SIGSTOP')
      if (found.length === this.#find().length) break
    }
    for (const { pid } of this.#find()) signal(pid, 'SIGKILL')
    signal(-this.#leader, 'SIGKILL')
  }

  #find(): Seen[] {
    const all = processesOf()
    const found = new Map<number, Seen>()
    const ofTree = (one: Seen) =>
      one.session === this.#leader ||
      this.#known.has(one.parent) ||
      (this.#known.has(one.pid) && one.pid !== process.pid)
    for (let grown = true; grown; ) {
      grown = false
      for (const one of all) {
        if (found.has(one.pid) || one.pid === process.pid || !ofTree(one)) continue
        found.set(one.pid, one)
        this.#known.add(one.pid)
        grown = true
      }
    }
    // The system can reuse the numbers of ended processes.
    const alive = new Set(all.map(({ pid }) => pid))
    for (const pid of this.#known) if (!alive.has(pid) && pid !== this.#leader) this.#known.delete(pid)
    return [...found.values()]
  }
}
